// A replacement for FoundationNetworking: `URLSession` and its related types. `HTTPEngine` transfers the octets, and
// `HTTPSemantics` interprets the messages. The module also exports Foundation, so one import is enough.
@_exported public import Foundation
