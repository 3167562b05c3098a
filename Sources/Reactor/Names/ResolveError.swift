/// Why a name has no addresses.
public enum ResolveError: Error, Hashable, Sendable {
    /// The name has no characters.
    case emptyName
    /// More than 253 bytes (RFC 1035 §2.3.4: 255 on the wire, length bytes included).
    case nameTooLong
    /// A NUL, a blank or a control character; or a last label that is a number, as in `127.1` or `0x7f.1`:
    /// no top-level name is one (RFC 1123 §2.1), but C's look-up would make an address of it.
    case invalidName
    /// A name server, or the hosts file alone, knows no such name.
    case noSuchHost
    /// The name exists, but has no address of the family asked for.
    case noAddress
    /// No server answered in time; asking again later may help.
    case temporaryFailure
    /// A server answered that it cannot answer.
    case serverFailure
    /// The look-up itself could not be made, for want of descriptors or memory for example.
    case system(Errno)
    /// Too many look-ups wait already.
    case tooManyLookups
    /// The resolver was shut down before there was an answer.
    case shutDown
    /// Another code of `getaddrinfo`, as it stands in `netdb.h`.
    case other(code: Int32)
}

extension ResolveError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .emptyName: "the host name is empty"
        case .nameTooLong: "the host name is longer than 253 bytes"
        case .invalidName: "this is no host name"
        case .noSuchHost: "no such host"
        case .noAddress: "the host has no address of this family"
        case .temporaryFailure: "no name server answered"
        case .serverFailure: "the name server failed"
        case .system(let error): "the look-up failed: \(error)"
        case .tooManyLookups: "too many look-ups at once"
        case .shutDown: "the resolver was shut down"
        case .other(let code): "the look-up failed with code \(code)"
        }
    }
}
