internal import Foundation
internal import HTTPEngine

/// The proxies of a session's requests. A setting that names no proxy is no reason to go without one: requests that
/// would use it fail.
struct SessionProxies: Sendable {
    /// Without what cannot be read.
    let configuration: ProxyConfiguration
    private let http: ProxyFault?
    private let https: ProxyFault?

    /// - Parameters:
    ///   - dictionary: nil for the environment's proxies.
    ///   - environment: what a test makes of one.
    init(
        _ dictionary: [AnyHashable: Any]?,
        environment: @autoclosure () -> ProxyEnvironment.Settings = SessionProxies.environment
    ) {
        guard let dictionary else {
            let settings = environment()
            self.init(
                http: settings.http.mapError { ProxyFault("\($0)") },
                https: settings.https.mapError { ProxyFault("\($0)") },
                exceptions: settings.exceptions
            )
            return
        }
        let settings = ProxyDictionary(dictionary)
        self.init(http: settings.http, https: settings.https, exceptions: settings.exceptions)
    }

    private init(
        http: Result<Proxy?, ProxyFault>,
        https: Result<Proxy?, ProxyFault>,
        exceptions: ProxyExceptions
    ) {
        (self.http, self.https) = (http.failure, https.failure)
        configuration = ProxyConfiguration(http: http.proxy, https: https.proxy, exceptions: exceptions)
    }

    /// Read once: a program may change its environment while other threads run.
    private static let environment = ProxyEnvironment.settings()

    /// The setting that would name the proxy for this host, and names none; nil where all is well.
    func fault(for scheme: Origin.Scheme, _ host: String) -> ProxyFault? {
        guard let fault = scheme == .https ? https : http, !configuration.exceptions.covers(host) else { return nil }
        return fault
    }
}

/// A setting that names no proxy, and why. Says nothing of user and password.
struct ProxyFault: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = "the proxy cannot be read: \(reason)" }
}

extension Result where Success == Proxy?, Failure == ProxyFault {
    fileprivate var proxy: Proxy? { if case .success(let proxy) = self { proxy } else { nil } }

    fileprivate var failure: ProxyFault? { if case .failure(let fault) = self { fault } else { nil } }
}
