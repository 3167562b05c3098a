internal import Dispatch
internal import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics
internal import UncurlTLS

/// A session's configuration, read once and in the form that its loader needs. Later changes of the configuration do
/// not reach it. It is a class, since every request reads it, and copying so many fields costs more than reading them.
final class SessionSettings: Sendable {
    /// What the loads below the tasks are made by.
    let client: ClientSettings
    let cachePolicy: URLRequest.CachePolicy
    /// In seconds.
    let requestTimeout: TimeInterval
    /// In seconds.
    let resourceTimeout: TimeInterval
    /// In bytes: the most of one answer that is kept in memory.
    let maximumDataLength: Int
    /// The storage of cookies, if its class is the program's.
    let cookieSubclass: StorageSubclass<HTTPCookieStorage>?
    let cookiePolicy: HTTPCookie.AcceptPolicy
    /// The storage, if its class is URLLoading's own.
    let credentials: URLCredentialStorage?
    /// The storage, if its class is the program's.
    let credentialSubclass: StorageSubclass<URLCredentialStorage>?
    let cache: URLCache?
    let protocolClasses: [URLProtocol.Type]
    /// The version of resumable uploads that upload tasks offer; nil for none.
    let resumableUploads: UploadDraft?

    init(_ configuration: URLSessionConfiguration) {
        cachePolicy = configuration.requestCachePolicy
        requestTimeout = configuration.timeoutIntervalForRequest
        resourceTimeout = configuration.timeoutIntervalForResource
        maximumDataLength = configuration.maximumDataLength ?? .max
        let cookies = configuration.httpCookieStorage
        cookieSubclass = StorageSubclass(cookies)
        cookiePolicy = configuration.httpCookieAcceptPolicy
        credentialSubclass = StorageSubclass(configuration.urlCredentialStorage)
        credentials = credentialSubclass == nil ? configuration.urlCredentialStorage : nil
        cache = configuration.urlCache
        protocolClasses = (configuration.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
        resumableUploads = configuration.resumableUploads.flatMap { UploadDraft(rawValue: $0.rawValue) }
        let (hasSubclass, policy) = (cookieSubclass != nil, cookiePolicy)
        client = ClientSettings(
            fields: SessionSettings.fields(configuration.httpAdditionalHeaders ?? [:]),
            defaults: [
                ("Accept", "*/*"), ("User-Agent", SessionSettings.userAgent),
                ("Accept-Language", URLRequest.acceptLanguage),
            ],
            rules: configuration.answerRules(SecretFields(configuration.secretHeaderFields)),
            // The storage is held weakly by its observer, so a reference to it is slow: each request asks its store.
            cookies: hasSubclass ? nil : cookies?.store.serving(policy),
            asksForCookies: hasSubclass,
            setsCookies: configuration.httpShouldSetCookies,
            answers: cache,
            proxies: ClientProxies(configuration.connectionProxyDictionary, configuration.proxyConfigurations),
            engine: SessionSettings.engine(configuration)
        )
    }

    /// The value of the User-Agent field, with the program's name (RFC 9110 §10.1.5: a token).
    private static let userAgent: String = {
        let name = ProcessInfo.processInfo.processName.filter { letter in
            letter.isASCII && (letter.isLetter || letter.isNumber || "-._~+!".contains(letter))
        }
        return (name.isEmpty ? "URLLoading" : name) + " (unknown version) uncurl/1.0"
    }()

    private static func engine(_ configuration: URLSessionConfiguration) -> EngineConfiguration {
        var engine = EngineConfiguration()
        engine.connectionsPerHost = max(1, configuration.httpMaximumConnectionsPerHost)
        engine.connections = mostConnections
        engine.recordsLocalAddress = true
        engine.limits = configuration.responseLimits.parserLimits
        engine.heldHeadBytes = max(0, configuration.maximumHeldHeadLength)
        engine.leniency.insert(.chunksBesideLength)
        if configuration.acceptsLegacyResponses {
            engine.leniency.formUnion([.bareLF, .spaceBeforeColon, .junkBeforeStatusLine])
        }
        return engine
    }

    /// The most connections in all. Apple's URLSession has no such limit; this one keeps a crawler from using every
    /// descriptor of its process.
    private static let mostConnections = 1024

    /// Returns the session's fields. A value that no field can hold is left out (RFC 9110 §5.5).
    private static func fields(_ given: [AnyHashable: Any]) -> HTTPFields {
        var values = RequestValues(url: nil)
        values.dictionary = Dictionary(
            given.map { ("\($0.key.base)", "\($0.value)") },
            uniquingKeysWith: { _, last in last }
        )
        return values.fields ?? HTTPFields()
    }
}

/// A session's storage of a class that the program declares. The session calls the methods that such a class may
/// override, one call after the other on a queue of its own: not on a loop, which they might block.
struct StorageSubclass<Storage: NSObject & Sendable>: Sendable {
    private let storage: Storage
    private let queue = DispatchQueue(label: "URLLoading.\(Storage.self)")

    /// - Returns: nil without a storage, and for one of this module's own class.
    init?(_ storage: Storage?) {
        guard let storage, type(of: storage) != Storage.self else { return nil }
        self.storage = storage
    }

    /// Runs `call` when what is on its way to the storage has arrived there.
    func whenKept(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
}

extension StorageSubclass<HTTPCookieStorage> {
    /// Gets the cookies for the task's current request. `done` is released without a call if the storage does so with
    /// its handler.
    func get(for task: URLSessionTask, _ done: @escaping @Sendable ([HTTPCookie]) -> Void) {
        queue.async { storage.getCookiesFor(task) { done($0 ?? []) } }
    }

    /// Has the storage store the cookies of an answer to the task's current request.
    func store(_ cookies: [HTTPCookie], for task: URLSessionTask, _ done: @escaping @Sendable () -> Void) {
        queue.async {
            storage.storeCookies(cookies, for: task)
            done()
        }
    }
}

extension StorageSubclass<URLCredentialStorage> {
    /// Gets the default credential of a space by which the task is challenged.
    func getDefault(
        for space: URLProtectionSpace,
        _ task: URLSessionTask,
        _ done: @escaping @Sendable (URLCredential?) -> Void
    ) {
        queue.async { storage.getDefaultCredential(for: space, task: task, completionHandler: done) }
    }

    /// Has the storage store a credential with which the task has been accepted.
    func set(_ credential: URLCredential, for space: URLProtectionSpace, _ task: URLSessionTask) {
        queue.async { storage.set(credential, for: space, task: task) }
    }
}

extension ClientSecurity {
    /// - Parameter hasDelegate: whether the session itself has one; a task's own does not count.
    convenience init(_ configuration: URLSessionConfiguration, hasDelegate: Bool) {
        self.init(
            configuration.tlsMinimumSupportedProtocolVersion.tlsVersion,
            configuration.tlsMaximumSupportedProtocolVersion.tlsVersion,
            allowsLegacyAlgorithms: configuration.tlsAllowsLegacyAlgorithms,
            hasDelegate: hasDelegate
        )
    }
}
