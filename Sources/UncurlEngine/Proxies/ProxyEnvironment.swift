internal import CUncurlLinux

/// The proxies in the environment: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, by curl's rules.
///
/// A lower-case name takes precedence over an upper-case one. `HTTP_PROXY` is never read: a CGI server puts the
/// request's `Proxy` field into it (CVE-2016-5386). An empty variable counts as missing.
///
/// Each variable is read by itself: a program that uses those that it can read needs the faults of the others.
public struct ProxyEnvironment: Sendable {
    /// A variable that names no proxy.
    public struct Problem: Error, Hashable, Sendable {
        /// The variable's name.
        public let variable: String
        /// The fault in its value.
        public let problem: Proxy.Problem
    }

    /// The proxy for http origins; nil for none.
    public let http: Result<Proxy?, Problem>
    /// The proxy for https origins; nil for none.
    public let https: Result<Proxy?, Problem>
    /// The hosts in NO_PROXY.
    public let exceptions: ProxyExceptions

    /// - Parameter variables: the environment; tests give their own.
    public init(_ variables: [String: String]) { self.init { variables[$0] } }

    /// Reads this process's present environment. Like any reader of it, this must not be called while another thread
    /// changes the environment.
    public init() {
        self.init { name in
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe String(cString: value)
        }
    }

    private init(_ value: (String) -> String?) {
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
        http = first("http_proxy", "all_proxy", "ALL_PROXY")
        https = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        let list = [value("no_proxy"), value("NO_PROXY")].compactMap(\.self).first { !$0.isEmpty }
        exceptions = ProxyExceptions(list ?? "")
    }

    /// Returns the proxies. Throws the fault of the first variable that names none.
    public func proxies() throws(Problem) -> OriginProxies {
        OriginProxies(http: try http.get(), https: try https.get(), exceptions: exceptions)
    }
}

extension ProxyEnvironment.Problem: CustomStringConvertible {
    public var description: String { "\(variable): \(problem)" }
}
