internal import CLinux

/// Proxies as the environment names them: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, by curl's rules.
///
/// Lower case counts first, upper case second. `HTTP_PROXY` never counts: a CGI server puts the request's `Proxy` field
/// into it (CVE-2016-5386). An empty variable is as good as none.
public enum ProxyEnvironment {
    /// A variable that names no proxy.
    public struct Problem: Error, Hashable, Sendable {
        public let variable: String
        public let problem: Proxy.Problem
    }

    /// - Parameter variables: the environment, or what a test makes of one.
    public static func configuration(
        from variables: [String: String]
    ) throws(Problem) -> ProxyConfiguration {
        try configuration { variables[$0] }
    }

    /// Of this process, as it is now. Not to be called while another thread changes the environment, as with any reader
    /// of it.
    public static func configuration() throws(Problem) -> ProxyConfiguration {
        try configuration { name in
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe String(cString: value)
        }
    }

    private static func configuration(_ value: (String) -> String?) throws(Problem) -> ProxyConfiguration {
        func first(_ names: String...) throws(Problem) -> Proxy? {
            for name in names {
                guard let text = value(name), !text.isEmpty else { continue }
                do throws(Proxy.Problem) {
                    return try Proxy(url: text)
                } catch {
                    throw Problem(variable: name, problem: error)
                }
            }
            return nil
        }
        let exceptions = [value("no_proxy"), value("NO_PROXY")].compactMap(\.self).first { !$0.isEmpty }
        return ProxyConfiguration(
            http: try first("http_proxy", "all_proxy", "ALL_PROXY"),
            https: try first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
            exceptions: ProxyExceptions(exceptions ?? "")
        )
    }
}

extension ProxyEnvironment.Problem: CustomStringConvertible {
    public var description: String { "\(variable): \(problem)" }
}
