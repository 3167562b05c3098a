public import URLLoading
internal import UncurlText

/// The events of a stream that is requested again whenever it ends or breaks (HTML §9.2.3). Each request names the last
/// event that came.
///
/// ```swift
/// let source = EventSource { lastEventID in
///     try await open(url, lastEventID)            // a sequence of Data; nil for a 204, which ends it
/// }
/// for try await event in source { … }
/// ```
/// The sequence ends when `open` returns nil. It throws when the policy does not reconnect after an error, when the
/// allowed number of attempts in a row brought no event, when the Swift task is cancelled, and when an event is too
/// long. An iterator has one reader, and each iterator begins with a new request.
///
/// ```
///   opening ──stream──▶ reading ──end or error──▶ waiting ──▶ opening
///      │ └──error──▶ waiting      └──too long, cancelled──▶ over
///      └──nil──▶ over
/// ```
public struct EventSource<Stream: AsyncSequence & SendableMetatype>: AsyncSequence, Sendable
where Stream.Element == Data {
    public typealias Element = ServerSentEvent

    /// How an iterator gets its stream, and how it waits before it requests the stream again.
    typealias Connector = (
        wait: @Sendable (Duration) async throws -> Void,
        open: @Sendable (_ lastEventID: String?) async throws -> Stream?
    )

    private let lastEventID: String
    private let limit: Int
    private let policy: ReconnectionPolicy
    private let connector: @Sendable () -> Connector

    /// A source that has not requested its stream yet.
    ///
    /// - Parameters:
    ///   - lastEventID: the last id of an earlier stream, to continue after that event.
    ///   - limit: the most bytes of one event.
    ///   - policy: says when and how often the stream is requested again.
    ///   - wait: waits before an attempt.
    ///   - open: requests the stream. It gets the value of the field Last-Event-ID; nil for no such field.
    public init(
        after lastEventID: String = "",
        limit: Int = ServerSentEventParser.usualLimit,
        policy: ReconnectionPolicy = ReconnectionPolicy(),
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        open: @escaping @Sendable (_ lastEventID: String?) async throws -> Stream?
    ) {
        self.init(after: lastEventID, limit: limit, policy: policy) {
            let checked: @Sendable (String?) async throws -> Stream? = { lastEventID in
                // A stream may also end because its task was cancelled.
                try Task.checkCancellation()
                return try await open(lastEventID)
            }
            return (wait, checked)
        }
    }

    /// - Parameter connector: is called once for each iterator, which holds the result until the sequence is over.
    init(
        after lastEventID: String,
        limit: Int = ServerSentEventParser.usualLimit,
        policy: ReconnectionPolicy,
        connector: @escaping @Sendable () -> Connector
    ) {
        self.lastEventID = lastEventID
        self.limit = limit
        self.policy = policy
        self.connector = connector
    }

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    public struct Iterator: AsyncIteratorProtocol {
        private enum State {
            case opening(Connector)
            case reading(Stream.AsyncIterator, Connector)
            case waiting(Connector)
            case over
        }

        private let source: EventSource
        private var state: State
        private var parser: ServerSentEventParser
        private var events = FrameBacklog<ServerSentEvent>()
        private var retry: Duration
        /// The number of openings in a row that brought no event.
        private var failures = 0

        init(_ source: EventSource) {
            self.source = source
            state = .opening(source.connector())
            parser = ServerSentEventParser(lastEventID: source.lastEventID, limit: source.limit)
            retry = source.policy.retry
        }

        public mutating func next() async throws -> ServerSentEvent? {
            while true {
                if let event = try events.next() { return event }
                // Over, unless the next step sets another state: no element follows an error.
                let current = state
                state = .over
                switch current {
                case .opening(let connector): try await begin(connector)
                case .reading(let stream, let connector): try await read(stream, connector)
                case .waiting(let connector):
                    try await connector.wait(source.policy.delay(retry: retry, failures: failures).bounded)
                    state = .opening(connector)
                case .over: return nil
                }
            }
        }

        private mutating func begin(_ connector: Connector) async throws {
            let id = parser.lastEventID
            do {
                guard let stream = try await connector.open(id.isEmpty ? nil : id) else { return }
                failures += 1
                parser = ServerSentEventParser(lastEventID: id, limit: source.limit)
                state = .reading(stream.makeAsyncIterator(), connector)
            } catch {
                failures += 1
                try recover(from: error, connector)
            }
        }

        private mutating func read(_ stream: Stream.AsyncIterator, _ connector: Connector) async throws {
            var stream = stream
            let data: Data?
            do {
                data = try await stream.next(isolation: #isolation)
            } catch {
                return try recover(from: error, connector)
            }
            guard let data else { return try recover(from: nil, connector) }
            let isWhole = events.fill { events throws(StreamFailure) in try parser.take(data, into: &events) }
            if !events.isEmpty { failures = 0 }
            if let milliseconds = parser.retry { retry = .milliseconds(milliseconds) }
            if isWhole { state = .reading(stream, connector) }
        }

        /// - Parameter error: nil where the stream ended without an error. Servers may end a stream at any time.
        private mutating func recover(from error: (any Error)?, _ connector: Connector) throws {
            if let error {
                guard !Task.isCancelled, source.policy.reconnects(error) else { throw error }
            }
            if let limit = source.policy.attempts, failures >= limit, !Task.isCancelled {
                throw error ?? StreamFailure.noEvent(attempts: failures)
            }
            state = .waiting(connector)
        }
    }
}

extension EventSource: CustomStringConvertible {
    public var description: String {
        described(Self.self, ["lastEventID": lastEventID, "limit": limit, "policy": policy])
    }
}

/// Says when and how often a stream of events is requested again.
///
/// The pause before the next attempt is ``retry``, or the pause that the stream names, within ``shortest`` and
/// ``longestAsked``. It grows by ``factor`` with each attempt in a row that brought no event, up to ``longest``. A
/// share of the pause is random (``jitter``).
public struct ReconnectionPolicy: Sendable {
    /// The pause before the next attempt, until the stream names one.
    public var retry = Duration.seconds(3)
    /// The factor by which the pause grows with each attempt in a row that brought no event.
    public var factor = 2.0
    /// The longest pause after growth.
    public var longest = Duration.seconds(60)
    /// The shortest pause before ``jitter``, whatever the stream names: `retry: 0` would request the stream as fast as
    /// the network allows. Half a second, as in Firefox.
    public var shortest = Duration.milliseconds(500)
    /// The longest pause that a stream may name. A longer one is cut to this.
    public var longestAsked = Duration.seconds(3600)
    /// The share of the pause that is random, from 0 to 1, so that a server's readers do not all reconnect at the same
    /// moment.
    public var jitter = 0.1
    /// The number of attempts in a row without an event after which the sequence throws the last error, or
    /// ``StreamFailure/noEvent(attempts:)``. Nil: no limit.
    public var attempts: Int?
    /// Decides after which errors the stream is requested again. By default after network errors, but not after an
    /// answer that is not acceptable.
    public var reconnects: @Sendable (any Error) -> Bool = { ReconnectionPolicy.isTransient($0) }

    /// A policy with the defaults of its properties.
    public init() {}

    /// - Parameters:
    ///   - retry: the policy's pause, or the one that the stream names.
    ///   - failures: the number of attempts in a row that brought no event.
    func delay(retry: Duration, failures: Int) -> Duration {
        let retry = max(shortest, min(retry, longestAsked))
        // The factor is limited, and one that is not a number counts as 1: a duration cannot be arbitrarily large.
        let growth = factor > 1 ? min(factor, 1e6) : 1
        var delay = retry
        for _ in 1..<max(2, min(failures, 64)) where failures > 1 && delay < longest {
            // Compared before the multiplication, which could overflow a duration.
            delay = longest / growth < delay ? longest : delay * growth
        }
        // A pause that the stream names applies even if it is longer than the growth allows.
        delay = min(delay, max(longest, retry))
        guard jitter > 0 else { return delay }
        return delay * (1 - Double.random(in: 0...min(1, jitter)))
    }

    /// Whether the error is a network error that may not occur in a later attempt.
    public static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case let error as URLError: isTransient(error)
        case UncurlError.transport(let error): isTransient(error)
        default: false
        }
    }

    private static func isTransient(_ error: URLError) -> Bool {
        switch error.code {
        case .cancelled, .badURL, .unsupportedURL, .userCancelledAuthentication, .userAuthenticationRequired,
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
            .httpTooManyRedirects:
            false
        default: true
        }
    }
}
