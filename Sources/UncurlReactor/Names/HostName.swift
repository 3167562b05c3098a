internal import UncurlText

/// A host name that can be looked up, in the one spelling that equal names share.
public struct HostName: Hashable, Sendable {
    /// The name in lower case. A trailing dot is kept, since it tells the look-up not to use the search list.
    let text: String

    init(_ host: String) throws(ResolveError) {
        let text = String(decoding: host.utf8.map(\.lowercasedASCII), as: UTF8.self)
        let bare = HostName.withoutTrailingDot(text)
        guard !bare.isEmpty else { throw .emptyName }
        guard bare.utf8.count <= 253 else { throw .nameTooLong }
        guard !bare.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { throw .invalidName }
        guard !endsInNumber(bare[...]) else { throw .invalidName }
        self.text = text
    }

    /// `example.com` for `example.com.`: the key of overrides and memories.
    var bare: String { HostName.withoutTrailingDot(text) }

    /// Whether the name is `localhost` or below it (RFC 6761 §6.3): it means this machine, and no server is ever asked.
    var isLocalhost: Bool { bare == "localhost" || bare.hasSuffix(".localhost") }

    /// Whether the name is `onion` or below it: only Tor knows such names, and name servers must not hear of them
    /// (RFC 7686 §2).
    var isOnion: Bool { bare == "onion" || bare.hasSuffix(".onion") }

    private static func withoutTrailingDot(_ text: String) -> String {
        text.utf8.last == UInt8(ascii: ".") ? String(Substring(text.utf8.dropLast())) : text
    }
}

/// The reason why a name has no addresses.
public enum ResolveError: Error, Hashable, Sendable {
    /// The name has no characters.
    case emptyName
    /// The name is longer than 253 bytes (RFC 1035 §2.3.4: 255 on the wire, length bytes included).
    case nameTooLong
    /// The name holds a NUL, a blank or a control character; or its last label is a number, as in `127.1` or `0x7f.1`:
    /// no top-level domain is one (RFC 1123 §2.1), but C's look-up would read an address.
    case invalidName
    /// A name server, or the hosts file alone, knows no such name.
    case noSuchHost
    /// The name exists, but has no address of the family asked for.
    case noAddress
    /// No server answered in time; a later attempt may succeed.
    case temporaryFailure
    /// A server answered that it cannot answer.
    case serverFailure
    /// The look-up itself could not be made, for example for want of descriptors or memory.
    case system(Errno)
    /// Too many look-ups wait already.
    case tooManyLookups
    /// The resolver was shut down before there was an answer.
    case shutDown
    /// Another code of `getaddrinfo`, as in `netdb.h`.
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
        case .temporaryFailure: "no name server answered, or the one that did could not look the name up now"
        case .serverFailure: "the name server failed"
        case .system(let error): "the look-up failed: \(error)"
        case .tooManyLookups: "too many look-ups at once"
        case .shutDown: "the resolver was shut down"
        case .other(let code): "the look-up failed with code \(code)"
        }
    }
}

extension ResolveError {
    /// Returns the error that counts if the look-up of one family has failed with this error, and that of the other
    /// with `other`. A dead server may come back, so its error counts more than the lack of an address.
    package func joined(with other: ResolveError) -> ResolveError {
        self == .noAddress || self == .noSuchHost ? other : self
    }
}
