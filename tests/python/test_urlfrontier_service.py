"""What those who run it expect of a gRPC service: health, reflection, metrics, an end in good order."""


import grpc
from frontier_client import SERVICE, Puts, now, refused
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from support import PATIENCE, wait_until
from test_metrics import scrape, value
from test_tokens import create
from test_urlfrontier_gets import fill
from test_urlfrontier_proto import holds
from test_urlfrontier_tokens import NOBODY, code

SERVING = health_pb2.HealthCheckResponse.SERVING


def test_it_says_that_it_is_healthy(frontier):
    health = health_pb2_grpc.HealthStub(frontier.channel)
    for name in ("", SERVICE):
        assert health.Check(health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE).status == SERVING
        watch = health.Watch(health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE)
        assert next(watch).status == SERVING
        watch.cancel()
    with refused(grpc.StatusCode.NOT_FOUND, words=False):
        health.Check(health_pb2.HealthCheckRequest(service="nobody"), timeout=PATIENCE)


def test_it_describes_itself(frontier):
    """As the interface is: what tools like grpcurl see is what clients know."""
    found = ProtoReflectionDescriptorDatabase(frontier.channel)
    assert {SERVICE, "grpc.health.v1.Health"} <= set(found.get_services())
    service = DescriptorPool(found).FindServiceByName(SERVICE)
    holds(service.file)


def test_it_describes_itself_to_newer_tools_as_well(frontier):
    """The same words under the name that reflection has now."""
    call = frontier.channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                                          request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
                                          response_deserializer=reflection_pb2.ServerReflectionResponse.FromString)
    answers = list(call(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=PATIENCE))
    assert SERVICE in {service.name for service in answers[0].list_services_response.service}


def test_health_and_reflection_need_no_token(frontiers):
    """As /health and /openapi.json need none."""
    frontier = frontiers()
    create(frontier.server, "--scope", "read")
    wait_until("doors need a token", lambda: code(frontier, "GetStats") == NOBODY)
    assert health_pb2_grpc.HealthStub(frontier.channel).Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE).status == SERVING
    assert SERVICE in ProtoReflectionDescriptorDatabase(frontier.channel).get_services()


def test_metrics_have_the_names_that_dashboards_know(frontiers):
    frontier = frontiers()
    samples = scrape(frontier.server)
    # Before anything happened: a dashboard shows zero, and not nothing.
    for name in ("frontier_getURLs_total", "frontier_getURLs_calls_total", "frontier_putURLs_total", "frontier_putURLs_calls_total", "frontier_putURLs_ignored_total",
                 "frontier_putURLs_completed_total"):
        assert (name, ()) in samples and samples[name, ()] == 0, name
    assert value(samples, "frontier_putURLs_discovered_total") == 0 and value(samples, "frontier_getURLs_latency_seconds_count") == 0
    fill(frontier, queues=2, each=5)  # 10 discovered
    frontier.put(frontier.known("http://h0.example/0", 0), frontier.known("http://h0.example/1", now() + 1000), frontier.known("http://h0.example/new", 0))
    frontier.put(*(frontier.discovered(f"http://h1.example/{page}") for page in range(4)))  # known by now
    frontier.batches(("x", [frontier.info("http://h2.example/1"), frontier.info("http://h2.example/2"), frontier.info("http://h1.example/0")]))
    assert len(frontier.get()) == 3 + 5 + 2
    assert frontier.get() == []
    samples = wait_until("it is told", lambda: value(found := scrape(frontier.server), "frontier_getURLs_calls_total") == 2 and found)
    assert value(samples, "frontier_getURLs_total") == 10
    assert value(samples, "frontier_getURLs_latency_seconds_count") == 2 and value(samples, "frontier_getURLs_latency_seconds_sum") > 0
    assert value(samples, "frontier_putURLs_total") == 10 + 3 + 4 + 3
    assert value(samples, "frontier_putURLs_calls_total") >= 3
    assert value(samples, "frontier_putURLs_ignored_total") == 4 + 1
    assert value(samples, "frontier_putURLs_completed_total") == 2
    # By what they were sent as; the dashboard reads both.
    assert value(samples, "frontier_putURLs_discovered_total", discovered="false") == 3
    assert value(samples, "frontier_putURLs_discovered_total", discovered="true") in (12, 17), "new ones, or all"
    assert ("refrain_pages", ()) in samples, "and our own beside them"


def test_a_crawl_that_is_made_up_is_no_label(frontiers):
    """Nobody can make it remember names without end in what it tells of itself."""
    frontier = frontiers()
    for number in range(30):
        frontier.put(frontier.discovered("http://a.example/", crawl=f"made-up-{number}", key=f"made-up-{number}"))
    assert not any("made-up" in text for _, labels in scrape(frontier.server) for _, text in labels)


def test_it_ends_though_streams_are_open(frontiers):
    frontier = frontiers()
    streams = [Puts(frontier, timeout=None), Puts(frontier, "PutDiscovered", timeout=None)]
    streams[0].say(frontier.discovered("http://a.example/"))
    streams[0].hear()
    watch = health_pb2_grpc.HealthStub(frontier.channel).Watch(health_pb2.HealthCheckRequest(), timeout=2 * PATIENCE)
    assert next(watch).status == SERVING
    frontier.server.stop()
    for stream in streams:
        try:
            assert stream.end() == []
        except grpc.RpcError as error:
            assert error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED), error
    frontier.server.check()
