/// A fault in a message: the rule that was broken, the place, and the side that broke it. The caller decides what to
/// do.
public struct HTTP1Error: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which side broke the rule.
    public enum Side: Sendable, Hashable {
        /// The peer sent it.
        case remote
        /// The caller asked to send it.
        case local
    }

    /// The rule that was broken.
    public enum Kind: Sendable, Hashable {
        // Lines (RFC 9112 §2.2). Offsets point at the octet that could not stand there.
        /// LF without CR before it.
        case bareLineFeed
        /// CR without LF behind it.
        case bareCarriageReturn

        // Start lines (RFC 9112 §3, §4).
        /// The line does not begin with `HTTP/`, or lacks its blanks.
        case invalidStatusLine
        /// The status is not three digits.
        case invalidStatusCode
        /// The reason phrase has an octet that may not stand there.
        case invalidReason(byte: UInt8)
        /// The method is no token.
        case invalidMethod
        /// The request target has none of the forms of RFC 9112 §3.2.
        case invalidTarget
        /// The line is not method, target and version with one blank between each.
        case invalidRequestLine
        /// Not HTTP/1.x.
        case unsupportedVersion
        /// A TLS alert (RFC 8446 §5.1, §6) where a status line was due: the peer wants to be spoken to over TLS.
        case tlsAlert

        // Fields (RFC 9112 §5).
        /// The first field line begins with a blank.
        case whitespaceBeforeFirstField
        /// Nothing stands before the colon.
        case emptyFieldName
        /// A field line has no colon.
        case missingColon
        /// A blank stands between name and colon.
        case whitespaceBeforeColon
        /// The name has an octet that no token has.
        case invalidFieldName(byte: UInt8)
        /// The value has an octet that no value has.
        case invalidFieldValue(byte: UInt8)
        /// A field's value goes on in the next line (RFC 9112 §5.2).
        case obsoleteLineFolding

        /// A limit of `ParserLimits` was passed; the offset is the first octet beyond it.
        case limitExceeded(ParserLimits.Name)

        // Framing (RFC 9112 §6).
        /// Content-Length is no number, or too large for 63 bits.
        case invalidContentLength
        /// Two lengths contradict each other.
        case differingContentLengths
        /// A request says its length more than once.
        case repeatedContentLength
        /// Both are there, which is how requests are smuggled.
        case contentLengthWithTransferEncoding
        /// Transfer-Encoding is no list of codings.
        case invalidTransferEncoding
        /// A coding other than chunked.
        case unsupportedTransferCoding
        /// Another coding stands behind chunked.
        case chunkedNotFinal
        /// Chunked is applied more than once.
        case chunkedRepeated
        /// HTTP/1.0 knows no transfer codings (RFC 9112 §6.1).
        case transferEncodingInHTTP10
        /// Content-Length or Transfer-Encoding where the status forbids it.
        case framingForbiddenByStatus

        // Host and target (RFC 9112 §3.2).
        /// A request of HTTP/1.1 has no Host.
        case missingHost
        /// A request has more than one Host.
        case repeatedHost
        /// Host is no host with an optional port.
        case invalidHost

        // Chunked coding (RFC 9112 §7.1).
        /// A chunk begins with no hexadecimal number.
        case invalidChunkSize
        /// A chunk's size does not fit into 63 bits.
        case chunkSizeOverflow
        /// What follows a chunk's size is no extension.
        case invalidChunkExtension
        /// No line end follows a chunk's data.
        case missingChunkDataEnd
        /// A field that may not be a trailer: framing, routing, authentication (RFC 9110 §6.5.1).
        case forbiddenTrailer

        /// 101 to a request that offered no upgrade, or without the fields RFC 9110 §7.8 requires.
        case unexpectedUpgrade

        // The connection ended first (RFC 9112 §8).
        /// The connection ended inside a head.
        case truncatedHead
        /// `expected` is nil where no length was announced.
        case truncatedBody(expected: UInt64?, received: UInt64)
    }

    /// The rule that was broken.
    public let kind: Kind
    /// Octets from the first octet of the message (of the block that was to be written, for `.local`) to the fault.
    public let offset: UInt64
    /// The side that broke it.
    public let side: Side

    /// An error from its parts.
    public init(_ kind: Kind, offset: UInt64, side: Side = .remote) {
        self.kind = kind
        self.offset = offset
        self.side = side
    }

    /// The status a server answers such a request with before it closes.
    public var responseStatus: Int {
        switch kind {
        case .unsupportedVersion: 505
        case .unsupportedTransferCoding: 501
        case .limitExceeded(let limit): limit.responseStatus
        default: 400
        }
    }

    public var description: String {
        "\(side == .remote ? "received" : "refused to send"): \(kind.summary) (octet \(offset))"
    }
}

extension HTTP1Error.Kind {
    var summary: String {
        switch self {
        case .bareLineFeed: "a line feed without a carriage return"
        case .bareCarriageReturn: "a carriage return without a line feed"
        case .invalidStatusLine: "a malformed status line"
        case .invalidStatusCode: "a status code below 100"
        case .invalidReason(let byte): "octet \(byte) in a reason phrase"
        case .invalidMethod: "a method that is no token"
        case .invalidTarget: "a malformed request target"
        case .invalidRequestLine: "a malformed request line"
        case .unsupportedVersion: "a version other than HTTP/1.x"
        case .tlsAlert: "a TLS alert in place of a status line"
        case .whitespaceBeforeFirstField: "whitespace before the first field"
        case .emptyFieldName: "a field without a name"
        case .missingColon: "a field line without a colon"
        case .whitespaceBeforeColon: "whitespace between field name and colon"
        case .invalidFieldName(let byte): "octet \(byte) in a field name"
        case .invalidFieldValue(let byte): "octet \(byte) in a field value"
        case .obsoleteLineFolding: "a folded field line"
        case .limitExceeded(let limit): "more than ParserLimits.\(limit.rawValue) allows"
        case .invalidContentLength: "a Content-Length that is no number below 2^63"
        case .differingContentLengths: "Content-Length fields that differ"
        case .repeatedContentLength: "more than one Content-Length"
        case .contentLengthWithTransferEncoding: "Content-Length together with Transfer-Encoding"
        case .invalidTransferEncoding: "a malformed Transfer-Encoding"
        case .unsupportedTransferCoding: "a transfer coding other than chunked"
        case .chunkedNotFinal: "a transfer coding after, or without, chunked"
        case .chunkedRepeated: "the chunked coding applied twice"
        case .transferEncodingInHTTP10: "Transfer-Encoding in an HTTP/1.0 message"
        case .framingForbiddenByStatus: "body framing in a response that has no body"
        case .missingHost: "no Host field"
        case .repeatedHost: "more than one Host field"
        case .invalidHost: "a malformed Host"
        case .invalidChunkSize: "a malformed chunk size"
        case .chunkSizeOverflow: "chunks of 2^63 octets or more"
        case .invalidChunkExtension: "a malformed chunk extension"
        case .missingChunkDataEnd: "chunk data that does not end where its size says"
        case .forbiddenTrailer: "a field that may not be a trailer"
        case .unexpectedUpgrade: "an upgrade that was not requested"
        case .truncatedHead: "the end of the connection inside a message head"
        case .truncatedBody(let expected?, let received):
            "the end of the connection after \(received) of \(expected) body octets"
        case .truncatedBody(nil, let received):
            "the end of the connection inside a chunked body, after \(received) octets"
        }
    }
}
