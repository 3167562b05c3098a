internal import CLinux

/// Proxies as the environment names them: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, by curl's rules.
///
/// Lower case counts first, upper case second. `HTTP_PROXY` never counts: a CGI server puts the request's `Proxy` field
/// into it (CVE-2016-5386). An empty variable is as good as none.
public enum ProxyEnvironment {
    /// A variable that names no proxy.
    public struct Problem: Error, Hashable, Sendable {
        /// The variable's name.
        public let variable: String
        /// What is wrong with its value.
        public let problem: Proxy.Problem
    }

    /// What the variables say, one by one: a program that goes on with those that it can read, needs the others'
    /// problems.
    public struct Settings: Sendable {
        /// The proxy for http origins; nil for none.
        public let http: Result<Proxy?, Problem>
        /// The proxy for https origins; nil for none.
        public let https: Result<Proxy?, Problem>
        /// What NO_PROXY says.
        public let exceptions: ProxyExceptions
    }

    /// - Parameter variables: the environment, or what a test makes of one.
    public static func configuration(
        from variables: [String: String]
    ) throws(Problem) -> ProxyConfiguration {
        try configuration(settings(from: variables))
    }

    /// Of this process, as it is now. Not to be called while another thread changes the environment, as with any reader
    /// of it.
    public static func configuration() throws(Problem) -> ProxyConfiguration { try configuration(settings()) }

    /// - Parameter variables: the environment, or what a test makes of one.
    public static func settings(from variables: [String: String]) -> Settings { settings { variables[$0] } }

    /// Of this process, as ``configuration()``.
    public static func settings() -> Settings {
        settings { name in
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe String(cString: value)
        }
    }

    private static func configuration(_ settings: Settings) throws(Problem) -> ProxyConfiguration {
        ProxyConfiguration(
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
