package import UncurlLoad
import UncurlTLS

/// The part of the report for people about TLS.
extension TextReport {
    /// A line about verification, authorities, server name, client certificate and resumption, as far as these are not
    /// the defaults.
    package static func security(_ plan: RunPlan) -> [String] {
        guard let configuration = plan.security.target?.configuration else { return [] }
        var parts: [String] = []
        if configuration.verification == .none {
            parts.append("certificates are not verified")
        } else if let roots = plan.security.givenRoots {
            parts.append("trusted: \(roots)")
        }
        if let name = plan.security.serverName { parts.append("server name \(name)") }
        if configuration.identity != nil { parts.append("with a client certificate") }
        if !configuration.resumes { parts.append("no session resumed") }
        return parts.isEmpty ? [] : ["  TLS: " + parts.joined(separator: ", ")]
    }

    /// The counts of handshakes, for a run that sends no requests.
    package static func handshakes(_ result: RunResult) -> [String] {
        let metrics = result.metrics
        return [
            row("Measured", Units.time(result.measured)),
            row(
                "Connections",
                "\(grouped(metrics.connectionsOpened)) opened, \(grouped(metrics.connectionsFailed)) failed, "
                    + "\(grouped(metrics.connectionsUnfinished)) in flight at stop"
            ),
            row("Rate", "\(fixed(result.perSecond(metrics.connectionsOpened), 2)) connections/s"),
        ]
    }

    package static func security(_ log: HandshakeLog) -> [String] {
        guard let share = log.resumedShare else { return [] }
        let counts =
            "\(grouped(log.count)) handshakes = \(grouped(log.full)) full + \(grouped(log.resumed)) resumed "
            + "(\(fixed(share * 100, 1)) %)"
        return [row("TLS", counts)]
            + log.sorted.map { row("", "\($0.agreement.version), \($0.agreement.cipherSuite) × \(grouped($0.count))") }
    }
}
