internal import CUncurlLinux

/// The proxies in the environment: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, by curl's rules.
///
/// A lower-case name takes precedence over an upper-case one. `HTTP_PROXY` is never read: a CGI server puts the
/// request's `Proxy` field into it (CVE-2016-5386). An empty variable counts as missing.
public enum ProxyEnvironment {
    /// A variable that names no proxy.
    public struct Problem: Error, Hashable, Sendable {
        /// The variable's name.
        public let variable: String
        /// The fault in its value.
        public let problem: Proxy.Problem
    }

    /// The values of the variables, each by itself: a program that uses those that it can read needs the faults of the
    /// others.
    public struct Settings: Sendable {
        /// The proxy for http origins; nil for none.
        public let http: Result<Proxy?, Problem>
        /// The proxy for https origins; nil for none.
        public let https: Result<Proxy?, Problem>
        /// The hosts in NO_PROXY.
        public let exceptions: ProxyExceptions
    }

    /// - Parameter variables: the environment; tests give their own.
    public static func configuration(
        from variables: [String: String]
    ) throws(Problem) -> OriginProxies {
        try configuration(settings(from: variables))
    }

    /// Returns the proxies in this process's present environment. Like any reader of it, it must not be called while
    /// another thread changes the environment.
    public static func configuration() throws(Problem) -> OriginProxies { try configuration(settings()) }

    /// - Parameter variables: the environment; tests give their own.
    public static func settings(from variables: [String: String]) -> Settings { settings { variables[$0] } }

    /// Returns the settings in this process's environment, as ``configuration()``.
    public static func settings() -> Settings {
        settings { name in
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe String(cString: value)
        }
    }

    private static func configuration(_ settings: Settings) throws(Problem) -> OriginProxies {
        OriginProxies(
            http: try settings.http.get(),
            https: try settings.https.get(),
            exceptions: settings.exceptions
        )
    }

    private static func settings(_ value: (String) -> String?) -> Settings {
        func first(_ names: String...) -> Result<Proxy?, Problem> {
            for name in names {
                guard let text = value(name), !text.isEmpty else { continue }
                do throws(Proxy.Problem) {
                    return .success(try Proxy(url: text))
                } catch {
                    return .failure(Problem(variable: name, problem: error))
                }
            }
            return .success(nil)
        }
        let exceptions = [value("no_proxy"), value("NO_PROXY")].compactMap(\.self).first { !$0.isEmpty }
        return Settings(
            http: first("http_proxy", "all_proxy", "ALL_PROXY"),
            https: first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
            exceptions: ProxyExceptions(exceptions ?? "")
        )
    }
}

extension ProxyEnvironment.Problem: CustomStringConvertible {
    public var description: String { "\(variable): \(problem)" }
}
