public import UncurlHTTP1
public import UncurlReactor
public import UncurlSemantics
public import UncurlTLS

/// The reason why an exchange failed: what happened, and where.
public enum EngineError: Error, Hashable, Sendable {
    /// The request cannot be sent as given; nothing was sent.
    case invalidRequest(InvalidRequest)
    /// There is no connection: the name, or every address, failed.
    case connect(ConnectError)
    /// A limit of ``Timeouts`` was exceeded.
    case timedOut(TimeoutPhase)
    /// TLS could not be agreed on, the certificate is not trusted, or a record was broken.
    case tls(TLSError)
    /// The proxy has failed, or has refused.
    case proxy(ProxyError)
    /// The peer ended the connection before it could carry a request. `error` is nil for a FIN.
    case closedWhileOpening(Errno?)
    /// The server sent bytes before it was asked anything.
    case unsolicitedBytes
    /// The connection ended before any byte of the response. `error` is nil for a FIN.
    case closedBeforeResponse(Errno?)
    /// The same while the content was being sent; `sent` bytes of it had left.
    case uploadAborted(sent: UInt64, Errno?)
    /// The connection ended within the response's head.
    case truncatedHead(Errno?)
    /// The connection ended within the response's content. `expected` is nil if only the framing could tell.
    case truncatedBody(expected: UInt64?, received: UInt64, Errno?)
    /// What came is no HTTP/1.1 response, or exceeds a limit.
    case malformedResponse(HTTP1Error)
    /// The heads that have come in part exceed ``EngineConfiguration/heldHeadBytes`` together.
    case tooManyHeldHeads(limit: Int)
    /// The server switched to a protocol that was not offered.
    case unexpectedUpgrade
    /// The content does not decode by its coding.
    case undecodable(ContentDecodingError)
    /// The request's body was shorter or longer than its declared length.
    case bodyLengthMismatch(declared: UInt64, given: UInt64)
    /// The delegate has ended the request's body before its end.
    case bodyFailed
    /// A file of the request's body could not be opened or read.
    case bodyUnreadable(Errno)
    /// A file of the request's body was replaced by another one.
    case bodyFileReplaced
    /// The request's body has failed: its reader threw, or there was no thread for it.
    case bodySourceFailed(BodySourceError)
    /// An upgraded connection was lost (``UpgradedConnectionDelegate``).
    case connectionLost(Errno?)
    /// The request could not be sent, and no response came.
    case sendFailed(Errno)
    /// The socket failed for a reason on this machine.
    case system(Errno)
    /// ``Engine/cancel(_:)`` has ended the exchange.
    case cancelled
    /// The engine was shut down, before or during the exchange.
    case shutDown

    /// The reason why a request cannot be sent.
    public enum InvalidRequest: Hashable, Sendable {
        /// The text is no host.
        case host(String, URLHost.Problem)
        /// The serialiser refuses the method, the target, or a field's name or value.
        case syntax(HTTP1Error)
        /// The caller has set a field that the engine derives from the request.
        case reservedField(String)
        /// A pipeline repeats its request, and only content in memory can be repeated.
        case pipelineOfStreams
        /// Parts of content are longer than 2^63 - 1 bytes together, or one of them is a stream that is asked for.
        case partsThatCannotBeJoined
        /// A pipeline is sent at once; an expectation, an upgrade and a tunnel would wait for an answer in its middle.
        case pipelineThatWaits
        /// The names are no names of protocols (RFC 9110 §7.8).
        case upgrade([String])
        /// Bytes after the head could belong to either protocol.
        case upgradeWithContent
        /// The answer to a TRACE is the request itself, without content (RFC 9110 §9.3.8).
        case traceWithContent
        /// All requests of a pipeline are held in memory: that many would take more than 256 MiB.
        case pipelineTooLarge(Int)
        /// The server's last answer was HTTP/1.0, so it knows no chunks, and content of unknown length has no other end
        /// in a request (RFC 9112 §6.1).
        case unknownLengthToHTTP10
    }
}

extension EngineError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidRequest(.host(let host, let problem)): "invalid request: “\(host)” is no host: \(problem)"
        case .invalidRequest(.syntax(let error)): "invalid request: \(error)"
        case .invalidRequest(.reservedField(let name)):
            "invalid request: \(name) follows from the request and cannot be set"
        case .invalidRequest(.pipelineOfStreams):
            "invalid request: a pipeline repeats its request, and only content in memory can be repeated"
        case .invalidRequest(.partsThatCannotBeJoined):
            "invalid request: parts of its content are too long together, or one is a stream that is asked for"
        case .invalidRequest(.pipelineThatWaits):
            "invalid request: a pipeline leaves at once, and this request waits for an answer in its middle"
        case .invalidRequest(.upgrade(let names)):
            "invalid request: no protocols to upgrade to: \(names.joined(separator: ", "))"
        case .invalidRequest(.upgradeWithContent):
            "invalid request: one that may end HTTP on its connection carries no content"
        case .invalidRequest(.traceWithContent): "invalid request: a TRACE carries no content"
        case .invalidRequest(.pipelineTooLarge(let count)):
            "invalid request: a pipeline of \(count) does not fit into memory"
        case .invalidRequest(.unknownLengthToHTTP10):
            "the server speaks HTTP/1.0, and the content's length is not known: it would have to go in chunks, which came with HTTP/1.1"
        case .connect(let error): "connect: \(error)"
        case .timedOut(.connect): "timed out while connecting"
        case .timedOut(.handshake): "timed out during the TLS handshake"
        case .timedOut(.trustDecision): "timed out waiting for a decision about the server's certificate"
        case .timedOut(.poolWait): "timed out waiting for a free connection to the host"
        case .timedOut(.responseHead): "timed out waiting for the response head"
        case .timedOut(.idle): "timed out with no byte moving"
        case .timedOut(.total): "timed out: the whole exchange took too long"
        case .tls(let error): "TLS: \(error)"
        case .proxy(let error): "proxy: \(error)"
        case .closedWhileOpening(nil): "the server closed the connection before it was open"
        case .closedWhileOpening(let error?): "connection lost before it was open: \(error)"
        case .unsolicitedBytes: "the server sent bytes before the request"
        case .closedBeforeResponse(nil): "connection closed before any response"
        case .closedBeforeResponse(let error?): "connection lost before any response: \(error)"
        case .uploadAborted(let sent, let error):
            "connection ended after \(sent) bytes of the request's content, before any response\(EngineError.suffix(error))"
        case .truncatedHead(let error): "connection ended inside the response head\(EngineError.suffix(error))"
        case .truncatedBody(let expected?, let received, let error):
            "connection ended after \(received) of \(expected) bytes of content\(EngineError.suffix(error))"
        case .truncatedBody(nil, let received, let error):
            "connection ended inside the content, after \(received) bytes\(EngineError.suffix(error))"
        case .malformedResponse(let error) where error.kind == .tlsAlert:
            "the server answers plain HTTP with a TLS alert: it speaks TLS on this port"
        case .malformedResponse(let error):
            if case .limitExceeded = error.kind {
                "\(error); EngineConfiguration.limits and EngineRequest.Options.limits set it"
            } else {
                "malformed response: \(error)"
            }
        case .tooManyHeldHeads(let limit):
            "heads that have come in part take more than \(limit) bytes together; EngineConfiguration.heldHeadBytes sets it"
        case .unexpectedUpgrade: "the server switched to a protocol that was not offered"
        case .undecodable(let error): "content does not decode: \(error)"
        case .bodyLengthMismatch(let declared, let given): "the body declared \(declared) bytes and gave \(given)"
        case .bodyFailed: "the body's source failed"
        case .bodyUnreadable(let error): "the body's file cannot be read: \(error)"
        case .bodyFileReplaced: "the body's file is no longer the one it was"
        case .bodySourceFailed(let error): "the body's source failed: \(error)"
        case .connectionLost(let error): "connection lost\(EngineError.suffix(error))"
        case .sendFailed(let error): "sending failed: \(error)"
        case .system(let error): "system: \(error)"
        case .cancelled: "the request was cancelled"
        case .shutDown: "the engine is shut down"
        }
    }

    private static func suffix(_ error: Errno?) -> String { error.map { ": \($0)" } ?? "" }
}

/// The limit that was exceeded.
public enum TimeoutPhase: Hashable, Sendable {
    /// ``Timeouts/connect``, before the socket was connected.
    case connect
    /// The same limit, during the TLS handshake.
    case handshake
    /// ``TrustEvaluator/timeLimit(for:)``.
    case trustDecision
    /// The limits of the same names.
    case poolWait, responseHead, idle, total
}

/// The reason why the source of a ``ThreadedBody`` gave no more: the error it threw, or the pool's refusal.
public struct BodySourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error that the source threw, or a `BlockingPool.Refusal`.
    public let underlying: any Error

    /// Wraps the error that a source threw.
    public init(_ underlying: any Error) { self.underlying = underlying }

    public var description: String { "\(underlying)" }

    /// Compares the errors' descriptions, since errors need not be comparable.
    public static func == (left: BodySourceError, right: BodySourceError) -> Bool {
        String(reflecting: left.underlying) == String(reflecting: right.underlying)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(String(reflecting: underlying)) }
}
