internal import Foundation
internal import HTTPEngine

/// The proxies of a session's requests. If a setting names no proxy, requests that would use it fail, instead of going
/// without one.
struct SessionProxies: Sendable {
    /// The proxies, without those that cannot be read.
    let configuration: ProxyConfiguration
    private let http: ProxyFault?
    private let https: ProxyFault?

    /// - Parameters:
    ///   - dictionary: nil for the environment's proxies.
    ///   - environment: the proxies of the environment; tests give their own.
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

    /// The environment is read once: a program may change it while other threads run.
    private static let environment = ProxyEnvironment.settings()

    /// Returns the fault in the setting of the proxy for this host; nil if there is none.
    func fault(for scheme: Origin.Scheme, _ host: String) -> ProxyFault? {
        guard let fault = scheme == .https ? https : http, !configuration.exceptions.covers(host) else { return nil }
        return fault
    }
}

/// A setting that names no proxy, and the reason. It contains neither user nor password.
struct ProxyFault: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = "the proxy cannot be read: \(reason)" }
}

extension Result where Success == Proxy?, Failure == ProxyFault {
    fileprivate var proxy: Proxy? { if case .success(let proxy) = self { proxy } else { nil } }

    fileprivate var failure: ProxyFault? { if case .failure(let fault) = self { fault } else { nil } }
}
