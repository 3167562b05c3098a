import HTTPEngine
import LoadGenerator

extension LoadOptions {
    /// `--proxy`, as curl reads it; the environment's proxies count for nothing, since a load test must say what it loads.
    static func proxy(_ text: String?, _ target: Target) throws(UsageError) -> Proxy? {
        guard let text else { return nil }
        guard target != .embedded else { throw UsageError("--proxy needs a URL to reach: add one") }
        do throws(Proxy.Problem) {
            return try Proxy(url: text)
        } catch {
            // A password may be in it, so the text is not repeated.
            throw UsageError("--proxy is no proxy's URL: \(error): use one such as http://127.0.0.1:3128")
        }
    }
}
