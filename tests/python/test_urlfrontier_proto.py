"""The interface is the one that clients know: names, numbers and kinds of everything on the wire; and every call is there."""

import grpc
import pytest
from frontier_client import SERVICE, refused
from support import PATIENCE

#: request, reply; a star for a stream
CALLS = {
    "ListNodes": ("Empty", "StringList"), "ListCrawls": ("Local", "StringList"), "DeleteCrawl": ("DeleteCrawlMessage", "Long"),
    "ListQueues": ("Pagination", "QueueList"), "GetURLs": ("GetParams", "*URLInfo"), "PutURLs": ("*URLItem", "*AckMessage"),
    "PutDiscovered": ("*DiscoveredBatch", "*BatchAck"), "GetStats": ("QueueWithinCrawlParams", "Stats"),
    "DeleteQueue": ("QueueWithinCrawlParams", "Long"), "BlockQueueUntil": ("BlockQueueParams", "Empty"), "SetActive": ("Active", "Empty"),
    "GetActive": ("Local", "Boolean"), "SetDelay": ("QueueDelayParams", "Empty"), "SetLogLevel": ("LogLevelParams", "Empty"),
    "SetCrawlLimit": ("CrawlLimitParams", "Empty"), "GetURLStatus": ("URLStatusRequest", "URLItem"), "ListURLs": ("ListUrlParams", "*URLItem"),
    "CountURLs": ("CountUrlParams", "Long"), "PurgeURLs": ("PurgeUrlParams", "Long"),
}

#: name:kind=number; "?" is optional, "[]" repeated, "a>b" a map, "|" one of several
MESSAGES = {
    "Stats": "size:uint64=1 inProcess:uint32=2 counts:string>uint64=3 numberOfQueues:uint64=4 crawlID:string=5",
    "Pagination": "start:uint32=1 size:uint32=2 include_inactive:bool=3 crawlID:string=4 local:bool=5",
    "DeleteCrawlMessage": "value:string=1 local:bool=2",
    "Empty": "", "Local": "local:bool=1", "Active": "state:bool=1 local:bool=2", "Boolean": "state:bool=1", "Long": "value:uint64=1",
    "QueueList": "values:string[]=1 total:uint64=2 start:uint32=3 size:uint32=4 crawlID:string=5",
    "StringList": "values:string[]=1",
    "QueueWithinCrawlParams": "key:string=1 crawlID:string=2 local:bool=3",
    "QueueDelayParams": "key:string=1 delay_requestable:uint32=2 crawlID:string=3 local:bool=4",
    "BlockQueueParams": "key:string=1 time:uint64=2 crawlID:string=3 local:bool=4",
    "GetParams": "max_urls_per_queue:uint32=1 max_queues:uint32=2 key:string=3 delay_requestable:uint32=4 anyCrawlID:AnyCrawlID|=5 crawlID:string|=6",
    "AnyCrawlID": "",
    "URLItem": "discovered:DiscoveredURLItem|=1 known:KnownURLItem|=2 ID:string=3 creation_date:uint64=4",
    "AckMessage": "ID:string=1 status:AckMessage.Status=2",
    "URLInfo": "url:string=1 key:string=2 metadata:string>StringList=3 crawlID:string=4",
    "KnownURLItem": "info:URLInfo=1 refetchable_from_date:uint64=2",
    "DiscoveredURLItem": "info:URLInfo=1",
    "DiscoveredBatch": "ID:string=1 items:URLInfo[]=2",
    "BatchAck": "ID:string=1 statuses:AckMessage.Status[]=2",
    "LogLevelParams": "package:string=1 level:LogLevelParams.Level=2 local:bool=3",
    "CrawlLimitParams": "key:string=1 limit:uint32=2 crawlID:string=3 local:bool=4",
    "URLStatusRequest": "url:string=1 key:string=2 crawlID:string=3",
    "ListUrlParams": "start:uint32=1 size:uint32=2 key:string=3 crawlID:string=4 local:bool=5 filter:string?=6 ignoreCase:bool?=7",
    "CountUrlParams": "key:string=1 crawlID:string=2 filter:string?=3 ignoreCase:bool?=4 local:bool?=5",
    "PurgeUrlParams": "key:string=1 crawlID:string=2 days:uint32=3",
}
ENUMS = {("AckMessage", "Status"): {"OK": 0, "SKIPPED": 1, "FAIL": 2},
         ("LogLevelParams", "Level"): {"TRACE": 0, "DEBUG": 1, "INFO": 2, "WARN": 3, "ERROR": 4}}
KINDS = {3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 13: "uint32"}


def kind(field):
    if field.message_type:
        return field.message_type.full_name.removeprefix("urlfrontier.")
    return field.enum_type.full_name.removeprefix("urlfrontier.") if field.enum_type else KINDS[field.type]


def described(message):
    found = []
    for field in sorted(message.fields, key=lambda field: field.number):
        what, optional = kind(field), field.containing_oneof and len(field.containing_oneof.fields) == 1
        if field.message_type and field.message_type.GetOptions().map_entry:
            what = ">".join(kind(part) for part in field.message_type.fields)
        elif field.is_repeated:
            what += "[]"
        elif field.containing_oneof:
            what += "?" if optional else "|"
        found.append(f"{field.name}:{what}={field.number}")
    return " ".join(found)


def holds(file):
    """The description of the file says exactly this."""
    assert file.package == "urlfrontier"
    assert {name: described(message) for name, message in file.message_types_by_name.items()} == MESSAGES
    for (message, enum), values in ENUMS.items():
        assert {value.name: value.number for value in file.message_types_by_name[message].enum_types_by_name[enum].values} == values
    service = file.services_by_name["URLFrontier"]
    calls = {method.name: ("*" * method.client_streaming + method.input_type.name, "*" * method.server_streaming + method.output_type.name)
             for method in service.methods}
    assert calls == CALLS
    assert list(file.message_types_by_name["URLItem"].oneofs_by_name) == ["item"]


def test_the_file_is_the_interface(urlfrontier):
    holds(urlfrontier.pb.DESCRIPTOR)


@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_served(frontier, name):
    """An empty request is a request: it is answered, or refused for what it says, and not unknown."""
    request = getattr(frontier.pb, CALLS[name][0].removeprefix("*"))()
    if name == "SetActive":
        request.state = True  # for the other tests
    if name == "SetDelay":
        request.delay_requestable = 1
    asked = iter([request]) if CALLS[name][0].startswith("*") else request
    try:
        answer = frontier.call(name, asked)
        if CALLS[name][1].startswith("*"):
            list(answer)
    except grpc.RpcError as error:
        assert error.code() in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT), error


def test_what_is_not_a_call_is_unknown(frontier):
    other = frontier.channel.unary_unary(f"/{SERVICE}/Brew", request_serializer=bytes, response_deserializer=bytes)
    with refused(grpc.StatusCode.UNIMPLEMENTED):
        other(b"", timeout=PATIENCE)


def test_there_is_one_node_and_it_has_a_name(frontier):
    found = list(frontier.call("ListNodes", frontier.pb.Empty()).values)
    assert len(found) == 1 and found[0], found


@pytest.mark.parametrize("level", range(5))
def test_levels_of_the_log_are_taken(frontier, level):
    frontier.call("SetLogLevel", frontier.pb.LogLevelParams(package="refrain", level=level))
