// A replacement for FoundationNetworking: `URLSession` and its related types. `UncurlEngine` transfers the octets, and
// `UncurlSemantics` interprets the messages. The module also exports Foundation, so one import is enough.
@_exported public import Foundation
