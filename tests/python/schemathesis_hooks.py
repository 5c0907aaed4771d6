"""For schemathesis: nobody waits a minute for what does not come."""

import schemathesis

PATIENCE = 0.01


def shortened(fields):
    if isinstance(fields, dict):
        try:
            if PATIENCE < float(fields["wait_seconds"]) <= 60:
                fields["wait_seconds"] = PATIENCE
        except (KeyError, TypeError, ValueError):
            pass  # the server is to say what is wrong with it


@schemathesis.hook
def before_call(context, case, kwargs):
    shortened(case.query)
    shortened(case.body)
