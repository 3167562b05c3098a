// Tests without sockets: stubs, recordings, and a clock that the test advances.
@_exported public import Uncurl
