public import Foundation
internal import Synchronization

/// A program's own way to load URLs. A session asks a subclass whether it takes a request. The subclass reports the
/// answer to its client. It works for tasks of every kind.
///
/// Each instance loads one request. Its methods are called one after the other on a queue of its own, never on a thread
/// that others wait for, so they may block.
///
/// A subclass that uses itself on other threads is declared `@unchecked Sendable`, as on Apple's platforms.
open class URLProtocol: NSObject {
    private let given: (request: URLRequest, cachedResponse: CachedURLResponse?)

    /// The client, to which the instance reports what it loads, on any thread.
    open var client: (any URLProtocolClient)?

    /// The task that the instance loads for; nil for an instance that a program made by hand.
    open var task: URLSessionTask?

    /// Makes an instance of a loading class. A session makes them by this, or by ``init(task:cachedResponse:client:)``.
    ///
    /// - Parameters:
    ///   - request: the request to load.
    ///   - cachedResponse: what the session's cache has for it, usable or not.
    ///   - client: the client, to which the instance reports what it loads.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        given = (request, cachedResponse)
        self.client = client
    }

    /// Makes an instance for a session; unless overridden, with the current request of the task.
    public required convenience init(
        task: URLSessionTask,
        cachedResponse: CachedURLResponse?,
        client: (any URLProtocolClient)?
    ) {
        let request = task.currentRequest ?? URLRequest(url: URL(fileURLWithPath: "/"))
        self.init(request: request, cachedResponse: cachedResponse, client: client)
        self.task = task
    }

    /// The request to load.
    open var request: URLRequest { given.request }

    /// What the session's cache has for the request, usable or not.
    open var cachedResponse: CachedURLResponse? { given.cachedResponse }

    /// Whether this class takes the request. `URLProtocol` itself takes none.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Whether this class takes the task; unless overridden, by its current request.
    open class func canInit(with task: URLSessionTask) -> Bool { task.currentRequest.map(canInit) ?? false }

    /// Returns the form in which requests are loaded and compared: the request as given, unless overridden.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether the answer to one request also answers the other: if they are equal, unless overridden.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { a == b }

    /// Begins to load. The answer goes to ``client``, from within this call or later. A subclass overrides it; without
    /// an override the load fails.
    open func startLoading() {
        let reason = "\(type(of: self)) takes requests and has no startLoading()"
        client?.urlProtocol(self, didFailWithError: URLError(.unsupportedURL, request.url, reason))
    }

    /// Stops loading. The client ignores what it is told after this.
    open func stopLoading() {}

    // MARK: Properties, kept with a request for classes like this one

    /// Returns what a class has kept with a request under that key; nil for nothing.
    open class func property(forKey key: String, in request: URLRequest) -> Any? { request.protocolProperties[key] }

    /// Keeps a value with a request and with later copies of the request.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        request.request.protocolProperties[key] = value
    }

    /// Forgets what was kept with a request under that key.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        request.request.protocolProperties[key] = nil
    }

    // MARK: Registration

    private static let registered = Mutex<[URLProtocol.Type]>([])

    /// Registers a class for all sessions of the process. Registered classes are asked after those of a session's
    /// configuration, the last registered first.
    ///
    /// - Returns: false for a class that is no subclass of `URLProtocol`.
    open class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard let type = protocolClass as? URLProtocol.Type else { return false }
        registered.withLock { $0.append(type) }
        return true
    }

    /// Removes the last registration of the class, if there is one.
    open class func unregisterClass(_ protocolClass: AnyClass) {
        registered.withLock { types in
            if let index = types.lastIndex(where: { $0 == protocolClass }) { types.remove(at: index) }
        }
    }

    static var hasRegisteredClasses: Bool { registered.withLock { !$0.isEmpty } }

    static var registeredClasses: [URLProtocol.Type] { registered.withLock { $0.reversed() } }
}

/// Gets what a `URLProtocol` loads. Any thread. Calls after the end, or after `stopLoading()`, are ignored.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
    /// Reports a redirect. The session's rules and its delegate decide; another instance loads the request that
    /// follows.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)

    /// Reports that the cached response is the answer.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)

    /// Reports the head of the answer.
    ///
    /// - Parameters:
    ///   - protocol: the instance that loads.
    ///   - response: the head.
    ///   - policy: whether the cache may store the answer.
    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    )

    /// Reports more of the content.
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)

    /// Reports that the answer is complete.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)

    /// Reports that there is no answer, or no more of it: the task fails with that error.
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)

    /// Asks the task's delegate; its answer goes to the challenge's sender.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)

    /// Reports that the challenge needs no answer any more.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
