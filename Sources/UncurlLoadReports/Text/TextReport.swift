import UncurlHTTP1
package import UncurlLoad
import UncurlReactor
import UncurlTLS
import UncurlText

/// The report for people.
package enum TextReport {
    package static func text(_ result: RunResult) -> String {
        var sections = [title(result)]
        switch result.plan.work {
        case .requests:
            sections += [counts(result), latencies(result)]
            // The table was just encoded, so reading it cannot fail.
            sections.append((try? NameTable.lines(NamedReport.json(result).items, "")) ?? [])
            if result.plan.showsDistribution { sections.append(distribution(of: result.metrics)) }
            sections.append(connections(result))
        case .handshakes:
            sections += [handshakes(result), latencies(result)]
            if result.plan.showsDistribution {
                sections.append(distribution(of: "TLS handshakes", result.metrics[.tls]))
            }
        }
        sections.append(security(result.metrics.handshakes))
        if !result.metrics.failures.isEmpty { sections.append(failures(result.metrics.failures)) }
        if result.plan.threads > 1 { sections.append(threads(result)) }
        sections.append(RunFigures.table(result.runs))
        sections.append(result.thresholds.lines)
        if !result.notes.isEmpty { sections.append(result.notes.map { "note: \($0)" }) }
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private static func title(_ result: RunResult) -> [String] {
        let plan = result.plan
        let (what, each) =
            switch plan.work {
            case .requests where plan.scenarios != nil:
                (
                    "visits (\(plan.scenarios?.all.map(\.name).joined(separator: ", ") ?? "")) of "
                        + "\(several(plan.inputs.count, "request")) to", "a connection each request"
                )
            case .requests where !plan.inputs.isEmpty:
                (
                    "\(several(plan.inputs.count, "request")) from inputs, \(plan.order.rawValue),",
                    "a connection each request"
                )
            case .requests where plan.webSocket != nil:
                (
                    "messages of \(Units.bytes(Double(plan.webSocket?.message.count ?? 0))) on WebSockets to",
                    "a connection each message"
                )
            case .requests: (plan.request.method, "a connection each request")
            case .handshakes: ("TLS handshakes with", "each without a request")
            }
        let reuse =
            switch plan.reuse {
            case .keepAlive where plan.limits.requests != nil:
                "a connection for \(plan.limits.requests ?? 0) requests"
                    + (plan.limits.resets ? ", closed by RST" : "")
            case .keepAlive: plan.pipeline > 1 ? "keep-alive, pipeline \(plan.pipeline)" : "keep-alive"
            case .fin: "\(each), closed by FIN"
            case .rst: "\(each), closed by RST"
            }
        var lines = [
            "volley \(PackageVersion.text): \(what) \(plan.url)",
            "  \(plan.profile == nil ? "" : "at most ")\(several(plan.connections, "connection")) on \(several(plan.threads, "thread")), \(reuse), "
                + (plan.timeout == LoadOptions.longest ? "no timeout" : "timeout \(Units.time(plan.timeout))")
                + (plan.limits.description.isEmpty ? "" : " (\(plan.limits.description))"),
        ]
        if let proxy = plan.proxy { lines.append("  by the proxy \(proxy)") }
        lines += security(plan)
        lines += ScheduleText.title(plan)
        if plan.warmup > 0 { lines.append("  warm-up of \(Units.time(plan.warmup)) left out") }
        if result.interrupted { lines.append("  interrupted: the figures cover what there was") }
        return lines
    }

    private static func counts(_ result: RunResult) -> [String] {
        let metrics = result.metrics
        let sum =
            "\(grouped(metrics[.sent])) sent = \(grouped(metrics[.completed])) completed + \(grouped(metrics[.failed])) failed"
            + " + \(grouped(metrics[.inFlight])) in flight at stop"
        let what = result.plan.webSocket == nil ? "Requests" : "Messages"
        var lines = [
            row("Measured", Units.time(result.measured)),
            row(what, metrics.isBalanced ? sum : sum + "  (THESE DO NOT ADD UP: a bug in volley)"),
            row("Rate", "\(fixed(result.perSecond(metrics.successesInTime), 2)) successes/s"),
        ]
        if metrics.httpErrors > 0 {
            let errors = metrics.httpErrors &- min(metrics.drainedErrors, metrics.httpErrors)
            lines.append(row("", "\(fixed(result.perSecond(errors), 2)) HTTP errors/s"))
        }
        if metrics[.drained] > 0 {
            lines.append(row("", "\(grouped(metrics[.drained])) more were answered while the run drained: in no rate"))
        }
        if metrics.has(.schedule) { lines += ScheduleText.counts(result) }
        lines += streams(JSONReport.stream(result), JSONReport.webSocket(result))
        if metrics[.redirects] > 0 { lines.append(row("Redirects", "\(grouped(metrics[.redirects])) followed")) }
        let codes = metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }
        if !codes.isEmpty {
            lines.append(
                row("Status", codes.map { "\($0) × \(grouped(metrics.statuses[$0]))" }.joined(separator: ", "))
            )
        }
        for figure in Figure.remarked {
            guard let remark = figure.remark, let count = figure.integer(result.figures) else { continue }
            let isAsked = RunSetting.value(remark.setting, result).bool == true
            if count > 0 || isAsked { lines.append(row(remark.title, grouped(count) + remark.words)) }
        }
        let received = bytes(
            metrics[.wireBytesIn],
            metrics[.bodyBytesIn],
            inTime: metrics.rest(.wireBytesIn, without: .drainedBytesIn),
            result
        )
        let sent = bytes(
            metrics[.wireBytesOut],
            metrics[.bodyBytesOut],
            inTime: metrics.rest(.wireBytesOut, without: .drainedBytesOut),
            result
        )
        lines += [row("Bytes in", received), row("Bytes out", sent)]
        return lines
    }

    /// The lines about streams and WebSockets, of one run or merged from several.
    static func streams(_ stream: JSONTree?, _ sockets: JSONTree?) -> [String] {
        let events = StreamText.counts(stream).map { [row("Events", $0)] } ?? []
        return events + zip(["WebSockets", ""], WebSocketText.counts(sockets)).map(row)
    }

    private static func bytes(_ wire: UInt64, _ body: UInt64, inTime: UInt64, _ result: RunResult) -> String {
        "\(Units.bytes(Double(wire)))\(result.plan.isSecure ? " before encryption" : ""), of it content \(Units.bytes(Double(body))); "
            + "\(Units.bytes(result.perSecond(inTime)))/s"
    }

    private static let columns: [Double] = [50, 90, 99, 99.9, 99.99]

    private static func latencies(_ result: RunResult) -> [String] {
        let metrics = result.metrics
        let rows = Figure.tabled.compactMap { figure in  // `flatMap` ends Swift 6.3.1 under the address sanitizer.
            if let times = figure.times { histogramRow(figure.title ?? "", metrics[times]) } else { nil }
        }
        guard !rows.isEmpty else { return [] }
        var lines = [left("Latency", 12) + columnHeads] + rows
        switch result.plan.work {
        case .requests where metrics.has(.schedule):
            if !metrics[.corrected].isEmpty { lines.append(ScheduleText.explanation) }
        case .requests:
            lines.append("  closed loop: percentiles exclude requests not sent during stalls; use --rate")
        case .handshakes:
            lines.append("  closed loop: percentiles exclude connections not opened during stalls")
        }
        let clamped = [Times.corrected, .success, .httpError, .failure].reduce(0) { $0 + metrics[$1].clamped }
        if clamped > 0 { lines.append("  \(grouped(clamped)) times over an hour are counted as one hour") }
        return lines
    }

    static var columnHeads: String {
        (["min", "mean"] + columns.map { "p\(name($0))" } + ["max"]).map { right($0, 10) }.joined()
    }

    static func histogramRow(_ name: String, _ values: LatencyHistogram) -> String? {
        guard let summary = values.summary(percentiles: columns) else { return nil }
        let times =
            [Double(summary.minimum), summary.mean] + summary.percentiles.map { Double($0.value) }
            + [Double(summary.maximum)]
        return "  " + left(name, 10) + times.map { right(Units.time($0), 10) }.joined()
    }

    /// The distribution of the times that a run of requests is about, as in wrk2.
    private static func distribution(of metrics: Metrics) -> [String] {
        distribution(of: metrics.has(.schedule) ? "corrected times" : "successes", metrics.headline(.requests))
    }

    private static func distribution(of what: String, _ latency: LatencyHistogram) -> [String] {
        guard let summary = latency.summary() else { return [] }
        return ["Distribution of \(what)"]
            + summary.percentiles.map { "  " + right(name($0.percentile), 7) + " %  " + Units.time($0.value) }
            + ["  mean \(Units.time(summary.mean)), standard deviation \(Units.time(summary.deviation))"]
    }

    private static func connections(_ result: RunResult) -> [String] {
        let metrics = result.metrics
        var parts = ["\(grouped(metrics[.connectionsOpened])) opened"]
        if metrics[.connectionsFailed] > 0 { parts.append("\(grouped(metrics[.connectionsFailed])) failed") }
        if metrics[.connectionsStray] > 0 {
            parts.append(
                "\(grouped(metrics[.connectionsStray])) closed at rest for bytes that no request had asked for"
            )
        }
        return [row("Connections", parts.joined(separator: ", "))]
    }

    private static func failures(_ log: FailureLog) -> [String] {
        ["Errors"]
            + log.sorted.flatMap { failure, record in
                var what = "\(failure.phase.rawValue): \(failure.kind.rawValue)"
                if failure.errno != 0 { what += " (\(Errno(code: failure.errno).name) \(failure.errno))" }
                if !failure.detail.isEmpty { what += ": \(failure.detail)" }
                let times = "first at \(Units.time(record.first)), last at \(Units.time(record.last))"
                return [
                    "  \(grouped(record.count)) × \(what); \(times)", "    e.g. \(oneLine(record.example, limit: 400))",
                ]
            }
    }

    private static func threads(_ result: RunResult) -> [String] {
        let unit =
            switch result.plan.work {
            case .requests: "requests/s"
            case .handshakes: "connections/s"
            }
        var lines = ["Threads   connections     completed" + right(unit, 14) + "     CPU"]
        for (index, thread) in result.threads.enumerated() {
            let cpu = result.measured == 0 ? 0 : Double(thread.cpuNanoseconds) / Double(result.measured) * 100
            lines.append(
                right("\(index)", 7) + right("\(thread.connections)", 14) + right(grouped(thread.completed), 14)
                    + right(fixed(result.perSecond(thread.completedInTime), 2), 14) + right(fixed(cpu, 0), 6) + " %"
            )
        }
        // With a schedule the connections are a limit, and most of them may never have been opened.
        let rates = result.threads.map { Double($0.completed) / Double(max(1, $0.connections)) }
        if result.plan.profile == nil, let most = rates.max(), let least = rates.min(), most > least * 1.2 {
            let words =
                least > 0
                ? "did \(fixed(most / least, 1)) times as much on one thread as on another"
                : "completed something on one thread and nothing on another"
            lines.append("  uneven: a connection \(words)")
        }
        return lines
    }

    static func row(_ name: String, _ text: String) -> String { left(name, 12) + text }

    private static func name(_ percentile: Double) -> String {
        LatencyHistogram.name(ofPercentile: percentile)
    }
}

/// The part of the report for people about a run with a schedule.
enum ScheduleText {
    static func title(_ plan: RunPlan) -> [String] {
        if let profile = plan.profile {
            var line =
                "  open loop: \(profile.description)" + (plan.arrivals == .poisson ? ", by chance (Poisson)" : "")
            if plan.drain > 0 { line += ", then up to \(Units.time(plan.drain)) for what is late" }
            return [line]
        }
        let crowd = plan.crowd.map { ["  \($0.description)"] } ?? []
        return crowd + (plan.think.map { ["  each connection rests for \($0.description) after an answer"] } ?? [])
    }

    static func counts(_ result: RunResult) -> [String] {
        let metrics = result.metrics
        var text = "\(grouped(metrics[.due])) due"
        // A visit of a script may make no request, or several.
        if !result.plan.users.isScripted {
            text +=
                " = \(grouped(metrics.dueSent)) sent + \(grouped(metrics[.refused])) refused + \(grouped(metrics[.unsent])) unsent"
            if !metrics.isScheduleBalanced { text += "  (THESE DO NOT ADD UP: a bug in volley)" }
        }
        var lines = [TextReport.row("Schedule", text)]
        if metrics[.delayed] > 0 {
            lines.append(
                TextReport.row("", "\(grouped(metrics[.delayed])) of them were due when no connection was free")
            )
        }
        if let ratio = metrics.rateRatio {
            let wanted = fixed(result.perSecond(metrics[.due]), 2)
            lines.append(
                TextReport.row("", "\(fixed(ratio * 100, 2)) % of them answered in time for a rate of \(wanted)/s")
            )
        }
        if let lag = metrics[.lag].summary(percentiles: [50, 99]), let p50 = lag[50], let p99 = lag[99] {
            lines.append(
                TextReport.row(
                    "Send lag",
                    "p50 \(Units.time(p50)), p99 \(Units.time(p99)), max \(Units.time(lag.maximum)): volley's own lateness"
                )
            )
        }
        for reason in result.generatorLimits {
            lines.append(TextReport.row("INVALID", "volley was the limit: \(reason)"))
        }
        return lines
    }

    static let explanation =
        "  corrected: from the instant a request was due, stalls included; raw: from its first byte sent"
}

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
                "\(grouped(metrics[.connectionsOpened])) opened, \(grouped(metrics[.connectionsFailed])) failed, "
                    + "\(grouped(metrics[.connectionsUnfinished])) in flight at stop"
            ),
            row("Rate", "\(fixed(result.perSecond(metrics[.connectionsOpened]), 2)) connections/s"),
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
