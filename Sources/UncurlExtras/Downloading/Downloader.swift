public import Dispatch
internal import Synchronization
public import Uncurl
internal import UncurlText

/// Loads values, and loads equal requests only once: a second caller for a value that is being loaded waits for the
/// same load. The number of active loads is limited. Loaded values go into a cache, if there is one.
///
/// A function loads the values, so they may come from a session, a manager, or a test:
///
/// ```swift
/// let images = Downloader.images(session: URLSession(configuration: .downloader), cache: .images())
/// let image = try await images.value(for: URLRequest(url: url)).value
/// ```
///
/// Two requests are equal if they have the same method, URL and fields, and are GET or HEAD without content. Other
/// requests are never merged or cached, unless the program gives them a key. Every member may be used on any thread.
public final class Downloader<Value: Sendable>: Sendable {
    /// Which waiting request begins next.
    public enum Order: Hashable, Sendable {
        /// The oldest request is next.
        case firstInFirstOut
        /// The newest request is next.
        case lastInFirstOut
    }

    /// The result of a load.
    public struct Loaded: Sendable {
        /// The loaded value.
        public let value: Value
        /// The response; nil for a value from the cache.
        public let response: URLResponse?

        /// A value and the response that it was made of.
        public init(_ value: Value, _ response: URLResponse?) {
            self.value = value
            self.response = response
        }
    }

    /// Loads one request. Its Swift task is cancelled when no caller waits for it.
    public typealias Load = @Sendable (URLRequest) async throws -> Loaded
    /// Called once with the value, or with the error that the load ended with.
    public typealias Completion = @Sendable (Result<Loaded, any Error>) -> Void
    /// The cache of a downloader's values.
    public typealias Cache = AutoPurgingCache<DownloadKey, Value>

    /// Names one waiting caller for ``cancel(_:)``.
    public struct Receipt: Hashable, Sendable {
        fileprivate let number: UInt64
        fileprivate let load: UInt64
    }

    private typealias Handler = (number: UInt64, completion: Completion)
    /// A load that callers wait for. Each load has its own number, so a late result is not taken for that of another.
    private typealias Wanted = (number: UInt64, request: URLRequest, handlers: [Handler])

    private struct State {
        var wanted: [DownloadKey: Wanted] = [:]
        /// The keys of loads that have not begun, in the order of their requests.
        var queue: [DownloadKey] = []
        /// Loads that have begun and not ended. Cancelled loads are included until they end, because they still have a
        /// connection.
        var active: [UInt64: Task<Void, Never>?] = [:]
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last += 1
            return last
        }
    }

    /// The most loads that are active at a time.
    public let maximumActive: Int
    /// Which waiting request begins next.
    public let order: Order
    /// The cache that is read before a load and filled after it.
    public let cache: Cache?
    private let fields: Set<String>?
    private let queue: DispatchQueue
    private let load: Load
    private let state = Mutex(State())

    /// A downloader that loads with a function.
    ///
    /// - Parameters:
    ///   - maximumActive: the most loads at a time, at least one.
    ///   - order: which waiting request begins next.
    ///   - cache: keeps loaded values; nil keeps nothing.
    ///   - fields: the header fields that must be equal for two requests to be equal, their names in any case; nil for
    ///     all.
    ///   - queue: the queue of completions; nil for a serial queue of its own.
    ///   - load: loads one request.
    public init(
        maximumActive: Int = 4,
        order: Order = .firstInFirstOut,
        cache: Cache? = nil,
        fields: Set<String>? = nil,
        queue: DispatchQueue? = nil,
        load: @escaping Load
    ) {
        self.maximumActive = max(1, maximumActive)
        self.order = order
        self.cache = cache
        self.fields = fields
        self.queue = queue ?? DispatchQueue(label: "uncurl.downloader")
        self.load = load
    }

    /// The number of loads that have begun and not ended.
    public var activeCount: Int { state.withLock { $0.active.count } }

    /// The number of loads that wait for their turn.
    public var queuedCount: Int { state.withLock { $0.queue.count } }

    // MARK: Asking

    /// Loads a value. `completion` is called once on the queue, after this method has returned.
    ///
    /// - Parameters:
    ///   - request: the request to load.
    ///   - key: names the request; requests with one key are equal.
    ///   - completion: receives the value or the error.
    /// - Returns: a receipt for ``cancel(_:)``; nil where the cache has the value or the request has no URL.
    @discardableResult
    public func download(_ request: URLRequest, key: String? = nil, completion: @escaping Completion) -> Receipt? {
        guard request.url != nil else {
            let words = "The request has no URL."
            answer([completion], .failure(URLError(.badURL, words: words)))
            return nil
        }
        let name = name(request, key)
        if let value = cached(name, request) {
            answer([completion], .success(Loaded(value, nil)))
            return nil
        }
        let receipt = state.withLock { state in
            let number = state.number()
            let handler: Handler = (number, completion)
            if let load = state.wanted[name]?.number {
                state.wanted[name]?.handlers.append(handler)
                return Receipt(number: number, load: load)
            }
            let load = state.number()
            state.wanted[name] = (load, request, [handler])
            state.queue.append(name)
            return Receipt(number: number, load: load)
        }
        begin()
        return receipt
    }

    /// The cached value; nil where there is none or where the request asks for a fresh answer.
    public func cachedValue(for request: URLRequest, key: String? = nil) -> Value? {
        cached(name(request, key), request)
    }

    /// Loads a value and waits for it. A cancelled Swift task returns at once. The load ends if no other caller waits
    /// for it.
    public func value(for request: URLRequest, key: String? = nil) async throws -> Loaded {
        let reins = Mutex((receipt: Receipt?.none, isCancelled: false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let receipt = download(request, key: key) { continuation.resume(with: $0) }
                let isCancelled = reins.withLock { reins in
                    reins.receipt = receipt
                    return reins.isCancelled
                }
                if isCancelled, let receipt { cancel(receipt) }
            }
        } onCancel: {
            let receipt = reins.withLock { reins in
                reins.isCancelled = true
                return reins.receipt
            }
            if let receipt { cancel(receipt) }
        }
    }

    /// Ends the wait of one caller. Its completion receives `URLError.cancelled`, unless it has been called already.
    /// The load ends if no other caller waits for it; the next equal request then begins a new load.
    public func cancel(_ receipt: Receipt) {
        let (handler, task) = state.withLock { state -> (Handler?, Task<Void, Never>?) in
            guard let name = state.wanted.first(where: { $0.value.number == receipt.load })?.key,
                let index = state.wanted[name]?.handlers.firstIndex(where: { $0.number == receipt.number })
            else { return (nil, nil) }
            let handler = state.wanted[name]?.handlers.remove(at: index)
            guard state.wanted[name]?.handlers.isEmpty == true else { return (handler, nil) }
            state.wanted[name] = nil
            state.queue.removeAll { $0 == name }
            return (handler, state.active[receipt.load] ?? nil)
        }
        task?.cancel()
        guard let handler else { return }
        let words = "This download was cancelled by its receipt."
        answer([handler.completion], .failure(URLError(.cancelled, words: words)))
    }

    // MARK: Loading

    private func name(_ request: URLRequest, _ key: String?) -> DownloadKey {
        DownloadKey(request, given: key, fields: fields, number: state.withLock { $0.number() })
    }

    private func cached(_ name: DownloadKey, _ request: URLRequest) -> Value? {
        request.cachePolicy.ignoresCaches ? nil : name.cacheKey.flatMap { cache?.value(for: $0) }
    }

    /// Begins as many loads as the limit allows.
    private func begin() {
        while true {
            let next = state.withLock { state -> (DownloadKey, Wanted)? in
                guard state.active.count < maximumActive, !state.queue.isEmpty else { return nil }
                let name =
                    switch order {
                    case .firstInFirstOut: state.queue.removeFirst()
                    case .lastInFirstOut: state.queue.removeLast()
                    }
                guard let wanted = state.wanted[name] else { return nil }
                state.active.updateValue(nil, forKey: wanted.number)
                return (name, wanted)
            }
            guard let (name, wanted) = next else { return }
            let task = Task { [load] in
                let result: Result<Loaded, any Error>
                do { result = .success(try await load(wanted.request)) } catch { result = .failure(error) }
                self.ended(name, wanted.number, result)
            }
            let isStillWanted = state.withLock { state in
                // The load may have ended already.
                if state.active[wanted.number] != nil { state.active.updateValue(task, forKey: wanted.number) }
                return state.wanted[name]?.number == wanted.number
            }
            if !isStillWanted { task.cancel() }
        }
    }

    private func ended(_ name: DownloadKey, _ number: UInt64, _ result: Result<Loaded, any Error>) {
        let handlers = state.withLock { state -> [Handler] in
            state.active[number] = nil
            // The load was cancelled, and an equal request may have begun since.
            guard state.wanted[name]?.number == number else { return [] }
            return state.wanted.removeValue(forKey: name)?.handlers ?? []
        }
        if !handlers.isEmpty, case .success(let loaded) = result, let key = name.cacheKey {
            cache?.add(loaded.value, for: key)
        }
        answer(handlers.map(\.completion), result)
        begin()
    }

    private func answer(_ completions: [Completion], _ result: Result<Loaded, any Error>) {
        guard !completions.isEmpty else { return }
        queue.async { for completion in completions { completion(result) } }
    }
}

extension Downloader {
    /// Loads with a session's data tasks. `decode` makes the value, on any thread. The other arguments are those of
    /// ``init(maximumActive:order:cache:fields:queue:load:)``.
    public convenience init(
        session: URLSession,
        maximumActive: Int = 4,
        order: Order = .firstInFirstOut,
        cache: Cache? = nil,
        fields: Set<String>? = nil,
        queue: DispatchQueue? = nil,
        decode: @escaping @Sendable (Data, URLResponse) throws -> Value
    ) {
        self.init(maximumActive: maximumActive, order: order, cache: cache, fields: fields, queue: queue) { request in
            let (data, response) = try await session.data(for: request)
            return Loaded(try decode(data, response), response)
        }
    }

    /// Loads with a session's data tasks. A serializer validates the answers and makes the values.
    public convenience init(
        session: URLSession,
        serializer: some ResponseSerializer<Value>,
        maximumActive: Int = 4,
        order: Order = .firstInFirstOut,
        cache: Cache? = nil,
        fields: Set<String>? = nil,
        queue: DispatchQueue? = nil
    ) {
        self.init(maximumActive: maximumActive, order: order, cache: cache, fields: fields, queue: queue) { request in
            let (data, response) = try await session.data(for: request)
            let answer = ReceivedResponse(request: request, response: response, data: data)
            if let failure = serializer.validation.failure(of: answer) { throw UncurlError.validation(failure) }
            return Loaded(try serializer.serialize(answer), response)
        }
    }
}

extension Downloader where Value == ImageContent {
    /// A downloader of validated, decoded and cached images.
    public static func images(
        session: URLSession,
        serializer: ImageResponseSerializer = ImageResponseSerializer(),
        maximumActive: Int = 4,
        order: Order = .firstInFirstOut,
        cache: Cache? = .images()
    ) -> Downloader {
        Downloader(session: session, serializer: serializer, maximumActive: maximumActive, order: order, cache: cache)
    }
}

extension URLSessionConfiguration {
    /// The configuration for a ``Downloader``'s session. It has a response cache of its own, with 20 MiB in memory and
    /// 150 MiB on disk.
    public static var downloader: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(
            memoryCapacity: 20 << 20,
            diskCapacity: 150 << 20,
            diskPath: "uncurl.downloader"
        )
        return configuration
    }
}

/// Decides whether two requests of a ``Downloader`` are equal.
public struct DownloadKey: Hashable, Sendable {
    private var given: String?
    /// The method, the URL and the fields of a request that has no such key.
    private var method = ""
    private var url = ""
    private var fields: [String: String] = [:]
    /// The number of a request that is never merged.
    private var number: UInt64?
    /// True for a request for a fresh answer: it does not join a load that may return a stored one. False for a request
    /// that must not use the network: it fails where another request loads, so the two are not merged. Nil for others.
    private var isFresh: Bool?

    /// - Parameters:
    ///   - given: the key that the program has given, if any.
    ///   - number: the number of the request; each request has its own.
    init(_ request: URLRequest, given: String?, fields: Set<String>?, number: UInt64) {
        isFresh =
            request.cachePolicy.ignoresCaches ? true : request.cachePolicy == .returnCacheDataDontLoad ? false : nil
        let method = request.httpMethod ?? "GET"
        if let given {
            self.given = given
        } else if method == "GET" || method == "HEAD", request.httpBody == nil, request.httpBodyStream == nil {
            (self.method, url) = (method, request.url?.absoluteString ?? "")
            let wanted = fields.map { Set($0.map { $0.lowercased() }) }
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                let name = name.lowercased()
                if wanted?.contains(name) ?? true { self.fields[name] = value }
            }
        } else {
            self.number = number
        }
    }

    /// The key of the cached value. It is the same whether or not the request asked for a fresh answer. Nil for a
    /// request that is never merged: no other request could find its value.
    var cacheKey: DownloadKey? {
        guard number == nil else { return nil }
        var key = self
        key.isFresh = nil
        return key
    }
}

extension URLRequest.CachePolicy {
    /// Whether the request does not accept stored answers.
    var ignoresCaches: Bool {
        switch self {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: true
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: false
        @unknown default: true
        }
    }
}

extension Downloader.Receipt: CustomStringConvertible {
    public var description: String { described(Self.self, ["": "\(number)"]) }
}

extension DownloadKey: CustomStringConvertible {
    /// The key that the program has given, or the method and the URL without its query, or the number of a request that
    /// has no other.
    public var description: String {
        let request = URL(string: url).map { "\(method) \($0.redacted)" }
        return described(Self.self, ["": given ?? request, "number": number])
    }
}
