public import Foundation
internal import Synchronization

/// A way to load URLs of the user's own: a subclass is asked whether it takes a request, and tells its client what
/// comes back. Works for tasks of every kind.
///
/// Each instance loads one request. Its methods are called one after the other on a queue of its own, never on a thread
/// that others wait for: it may block.
open class URLProtocol: NSObject {
    private let given: (request: URLRequest, cachedResponse: CachedURLResponse?)

    /// Is told what comes back; any thread may tell it.
    open var client: (any URLProtocolClient)?

    /// The task this is loaded for; nil for an instance that was made by hand.
    open var task: URLSessionTask?

    /// A loading class's instances are made by this, or by ``init(task:cachedResponse:client:)``.
    ///
    /// - Parameters:
    ///   - request: what is to be loaded.
    ///   - cachedResponse: what the session's cache has for it, usable or not.
    ///   - client: is told what comes back.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        given = (request, cachedResponse)
        self.client = client
    }

    /// What a session makes instances by; unless overridden, with the current request of the task.
    public required convenience init(
        task: URLSessionTask,
        cachedResponse: CachedURLResponse?,
        client: (any URLProtocolClient)?
    ) {
        let request = task.currentRequest ?? URLRequest(url: URL(fileURLWithPath: "/"))
        self.init(request: request, cachedResponse: cachedResponse, client: client)
        self.task = task
    }

    /// What is to be loaded.
    open var request: URLRequest { given.request }

    /// What the session's cache has for the request, usable or not.
    open var cachedResponse: CachedURLResponse? { given.cachedResponse }

    /// Whether this class takes the request. The class itself never does.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Whether this class takes the task; unless overridden, by its current request.
    open class func canInit(with task: URLSessionTask) -> Bool { task.currentRequest.map(canInit) ?? false }

    /// The form in which requests are loaded and compared: as given, unless overridden.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether the answer to one request serves the other: for equal requests, unless overridden.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { a == b }

    /// Begins to load; answers go to ``client``, from here or later. A subclass has its own; without one the load
    /// fails.
    open func startLoading() {
        let reason = "\(type(of: self)) takes requests and has no startLoading()"
        client?.urlProtocol(self, didFailWithError: ErrorTranslation.urlError(.unsupportedURL, request.url, reason))
    }

    /// Nothing that is told from here on will be heard.
    open func stopLoading() {}

    // MARK: Properties, kept with a request for classes like this one

    /// What a class has kept with a request under that key; nil for nothing.
    open class func property(forKey key: String, in request: URLRequest) -> Any? { request.protocolProperties[key] }

    /// Keeps a value with a request: it goes along when the request is sent on.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        request.request.protocolProperties[key] = value
    }

    /// Forgets what was kept with a request under that key.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        request.request.protocolProperties[key] = nil
    }

    // MARK: Registration

    private static let registered = Mutex<[URLProtocol.Type]>([])

    /// For all sessions of the process, after those of a session's configuration; the last registered is asked first.
    /// False for what is no subclass.
    open class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard let type = protocolClass as? URLProtocol.Type else { return false }
        registered.withLock { $0.append(type) }
        return true
    }

    /// The last registration of the class, if there is one.
    open class func unregisterClass(_ protocolClass: AnyClass) {
        registered.withLock { types in
            if let index = types.lastIndex(where: { $0 == protocolClass }) { types.remove(at: index) }
        }
    }

    static var hasRegisteredClasses: Bool { registered.withLock { !$0.isEmpty } }

    static var registeredClasses: [URLProtocol.Type] { registered.withLock { $0.reversed() } }
}

/// Declared as FoundationNetworking declares it: a subclass that is a delegate, too, gets the same words of the
/// compiler.
@available(*, unavailable)
extension URLProtocol: @unchecked Sendable {}

/// Hears what a `URLProtocol` loads. Any thread; what comes after the end, or after `stopLoading()`, is ignored.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
    /// Redirected: the session's rules and its delegate decide, and another instance loads what follows.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)

    /// The cached answer is the answer.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)

    /// The head of the answer.
    ///
    /// - Parameters:
    ///   - protocol: what loads it.
    ///   - response: the head.
    ///   - policy: whether the cache may store the answer.
    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    )

    /// More of the content.
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)

    /// All of the answer has been told.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)

    /// There is no answer, or no more of it: the task fails with that error.
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)

    /// The task's delegate is asked; the answer goes to the challenge's sender.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)

    /// The challenge needs no answer any more.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
