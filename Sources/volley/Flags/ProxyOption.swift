import UncurlEngine
import UncurlLoad

/// The proxy that leads to a target: that of `--proxy`, or of the environment.
struct ProxyOption {
    let proxy: Proxy?
    /// A note for the report about a proxy that no flag names.
    let note: String?

    /// - Parameters:
    ///   - text: the value of `--proxy`; empty means no proxy, whatever the environment says.
    ///   - isLocal: whether the target is on this machine.
    ///   - environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, by curl's rules. They apply only to
    ///     other machines: a local server is behind no proxy.
    init(
        _ text: String?,
        _ target: LoadOptions.Target,
        isLocal: Bool,
        _ environment: ProxyEnvironment.Settings
    ) throws(UsageError) {
        guard let text else {
            proxy = isLocal ? nil : try Self.proxy(of: environment, for: target)
            note = proxy.map { "by the proxy \($0), which the environment names: --proxy '' goes without" }
            return
        }
        note = nil
        guard !text.isEmpty else {
            proxy = nil
            return
        }
        guard target != .embedded else { throw UsageError("--proxy needs a URL to reach: add one") }
        do throws(Proxy.Problem) {
            proxy = try Proxy(url: text)
        } catch {
            // The text may contain a password, so the message does not repeat it.
            throw UsageError("--proxy is no proxy's URL: \(error): use one such as http://127.0.0.1:3128")
        }
    }

    private static func proxy(
        of environment: ProxyEnvironment.Settings,
        for target: LoadOptions.Target
    ) throws(UsageError) -> Proxy? {
        guard case .url(let url) = target, !environment.exceptions.covers(url.parts.origin.host) else { return nil }
        do throws(ProxyEnvironment.Problem) {
            return try (url.isSecure ? environment.https : environment.http).get()
        } catch {
            throw UsageError(
                "\(error.variable) of the environment is no proxy's URL: \(error.problem): unset it, or use --proxy"
            )
        }
    }
}
