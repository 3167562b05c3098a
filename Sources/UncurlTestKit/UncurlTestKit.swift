// Testing without sockets: stubs, recordings, a clock that is told the time.
@_exported public import Uncurl
