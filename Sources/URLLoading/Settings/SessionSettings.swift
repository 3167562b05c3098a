internal import Dispatch
internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics
internal import UncurlTLS

/// A session's configuration, read once and in the form that its loader needs. Later changes of the configuration do
/// not reach it. It is a class, since every request reads it, and copying so many fields costs more than reading them.
final class SessionSettings: Sendable {
    let cachePolicy: URLRequest.CachePolicy
    /// In seconds.
    let requestTimeout: TimeInterval
    /// In seconds.
    let resourceTimeout: TimeInterval
    /// The fields for every request that does not have its own.
    let fields: HTTPFields
    /// The fields that a redirect to another origin does not carry.
    let secrets: SecretFields
    /// The rules for the answers to each request.
    let answerRules: AnswerMachine.Rules
    /// The rule that distinguishes the users of stored answers.
    var vary: VaryRule { VaryRule(secrets) }
    let connectionsPerHost: Int
    /// In bytes: the most of one answer that is kept in memory.
    let maximumDataLength: Int
    let cookies: HTTPCookieStorage?
    /// The store of ``cookies``, which each request asks. The storage is held weakly by its observer, so a reference to
    /// it is slow.
    let cookieStore: CookieStore?
    /// The storage in place of ``cookieStore``, if its class is the program's.
    let cookieSubclass: CookieStorageSubclass?
    let cookiePolicy: HTTPCookie.AcceptPolicy
    let setsCookies: Bool
    /// The storage, if its class is URLLoading's own.
    let credentials: URLCredentialStorage?
    /// The storage, if its class is the program's.
    let credentialSubclass: CredentialStorageSubclass?
    let cache: URLCache?
    let protocolClasses: [URLProtocol.Type]
    let proxies: SessionProxies
    let minimumVersion: TLSVersion
    let maximumVersion: TLSVersion
    let allowsLegacyAlgorithms: Bool
    let acceptsLegacyResponses: Bool
    let responseLimits: ResponseLimits
    /// In bytes.
    let maximumHeldHeadLength: Int
    /// The version of resumable uploads that upload tasks offer; nil for none.
    let resumableUploads: UploadDraft?

    init(_ configuration: URLSessionConfiguration) {
        cachePolicy = configuration.requestCachePolicy
        requestTimeout = configuration.timeoutIntervalForRequest
        resourceTimeout = configuration.timeoutIntervalForResource
        fields = SessionSettings.fields(configuration.httpAdditionalHeaders ?? [:])
        secrets = SecretFields(configuration.secretHeaderFields)
        answerRules = configuration.answerRules(secrets)
        connectionsPerHost = max(1, configuration.httpMaximumConnectionsPerHost)
        maximumDataLength = configuration.maximumDataLength ?? .max
        cookies = configuration.httpCookieStorage
        cookieSubclass = CookieStorageSubclass(cookies)
        cookieStore = cookieSubclass == nil ? cookies?.store : nil
        cookiePolicy = configuration.httpCookieAcceptPolicy
        setsCookies = configuration.httpShouldSetCookies
        credentialSubclass = CredentialStorageSubclass(configuration.urlCredentialStorage)
        credentials = credentialSubclass == nil ? configuration.urlCredentialStorage : nil
        cache = configuration.urlCache
        protocolClasses = (configuration.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
        proxies = SessionProxies(configuration.connectionProxyDictionary, configuration.proxyConfigurations)
        minimumVersion = configuration.tlsMinimumSupportedProtocolVersion.tlsVersion
        maximumVersion = configuration.tlsMaximumSupportedProtocolVersion.tlsVersion
        allowsLegacyAlgorithms = configuration.tlsAllowsLegacyAlgorithms
        acceptsLegacyResponses = configuration.acceptsLegacyResponses
        responseLimits = configuration.responseLimits
        maximumHeldHeadLength = max(0, configuration.maximumHeldHeadLength)
        resumableUploads = configuration.resumableUploads.flatMap { UploadDraft(rawValue: $0.rawValue) }
    }

    /// Returns a request's own fields, and those of the session that the request does not have.
    ///
    /// - Parameter hasLeftOrigin: whether a redirect has led to another origin, which gets no secrets of the session.
    func fields(with own: HTTPFields?, hasLeftOrigin: Bool = false) -> HTTPFields {
        guard own != nil || hasLeftOrigin else { return fields }
        var all = own ?? HTTPFields()
        for index in 0..<fields.count {
            let name = fields.name(at: index)
            if applies(name, to: own, hasLeftOrigin: hasLeftOrigin) {
                try? all.append(fields, at: index)
            }
        }
        return all
    }

    /// Whether a field of the session is added to a request with these fields of its own.
    func applies(_ name: String, to own: HTTPFields?, hasLeftOrigin: Bool) -> Bool {
        own?.contains(name) != true && !(hasLeftOrigin && secrets.contains(name))
    }

    /// Returns the session's fields. A value that no field can hold is left out (RFC 9110 §5.5).
    private static func fields(_ given: [AnyHashable: Any]) -> HTTPFields {
        var values = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
        values.dictionary = Dictionary(
            given.map { ("\($0.key.base)", "\($0.value)") },
            uniquingKeysWith: { _, last in last }
        )
        return values.fields ?? HTTPFields()
    }
}

/// A session's cookie storage of a class that the program declares. The session calls the methods that such a class may
/// override, one call after the other on a queue of its own: not on a loop, which they might block.
struct CookieStorageSubclass: Sendable {
    private let storage: HTTPCookieStorage
    private let queue = DispatchQueue(label: "URLLoading.HTTPCookieStorage")

    /// - Returns: nil without a storage, and for one of `HTTPCookieStorage` itself.
    init?(_ storage: HTTPCookieStorage?) {
        guard let storage, type(of: storage) != HTTPCookieStorage.self else { return nil }
        self.storage = storage
    }

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

/// A session's credential storage of a class that the program declares. The session calls the methods that such a class
/// may override, one call after the other on a queue of its own: not on a loop, which they might block.
struct CredentialStorageSubclass: Sendable {
    private let storage: URLCredentialStorage
    private let queue = DispatchQueue(label: "URLLoading.URLCredentialStorage")

    /// - Returns: nil without a storage, and for one of `URLCredentialStorage` itself.
    init?(_ storage: URLCredentialStorage?) {
        guard let storage, type(of: storage) != URLCredentialStorage.self else { return nil }
        self.storage = storage
    }

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

    /// Runs `call` when the credentials that are on their way to the storage have arrived there.
    func whenKept(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
}
