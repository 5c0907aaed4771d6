"""Reads WARC files with warcio and prints one line per record: type, address, date, profile, truncated, body's SHA-256."""

import hashlib
import sys

from warcio.archiveiterator import ArchiveIterator

for path in sys.argv[1:]:
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            body = record.raw_stream.read() if record.rec_type == "revisit" else record.content_stream().read()
            field = record.rec_headers.get_header
            names = ("WARC-Target-URI", "WARC-Date", "WARC-Profile", "WARC-Refers-To-Date", "WARC-Truncated")
            status = record.http_headers.get_statuscode() if record.rec_type == "response" else "-"
            print(record.rec_type, *(field(name) or "-" for name in names), status, hashlib.sha256(body).hexdigest())
