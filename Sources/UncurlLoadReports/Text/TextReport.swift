import UncurlHTTP1
public import UncurlLoad
import UncurlReactor
import UncurlTLS
import UncurlText

extension RunResult {
    package var text: String { text(in: .plain) }

    package func text(in style: TextStyle) -> String {
        var sections = [heading]
        let requests = metrics.has(.schedule) ? "corrected times" : "successes"
        let times = plan.options.work == .requests ? requests : "TLS handshakes"
        let latency = metrics.headline(plan.options.work)
        let histogram = style.histogram(of: times, latency)
        switch plan.options.work {
        case .requests:
            sections += [style.judged(countLines), style.headed(latencyLines), histogram]
            // The table was just encoded, so reading it cannot fail.
            sections.append(style.headed((try? nameLines(namesJSON.items, "")) ?? []))
            if plan.options.showsDistribution { sections.append(style.headed(distribution(of: times, latency))) }
            sections.append(connectionLines)
        case .handshakes:
            sections += [handshakeLines, style.headed(latencyLines), histogram]
            if plan.options.showsDistribution { sections.append(style.headed(distribution(of: times, latency))) }
        }
        sections.append(handshakeSums)
        if !metrics.failures.isEmpty { sections.append(style.headed(failureLines, .red)) }
        if plan.threads > 1 { sections.append(style.headed(threadLines)) }
        sections.append(runTable)
        sections.append(style.judged(thresholds.lines))
        if !notes.isEmpty { sections.append(notes.map { "note: \($0)" }) }
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var heading: [String] {
        let options = plan.options
        let inputs = several(options.inputs.drafts.count, "request")
        let (what, each) =
            switch options.work {
            case .handshakes: ("TLS handshakes with", "each without a request")
            case .requests:
                if let scenarios = options.scenarios {
                    (
                        "visits (\(scenarios.all.map(\.name).joined(separator: ", "))) of \(inputs) to",
                        "a connection each request"
                    )
                } else if !options.inputs.drafts.isEmpty {
                    (
                        "\(inputs) from inputs, \(options.isRandom ? "random" : "in-order"),",
                        "a connection each request"
                    )
                } else if let message = options.webSocket?.message {
                    ("messages of \(bytesText(Double(message.count))) on WebSockets to", "a connection each message")
                } else {
                    (options.request.method, "a connection each request")
                }
            }
        let reuse =
            switch options.reuse {
            case .fin: "\(each), closed by FIN"
            case .rst: "\(each), closed by RST"
            case .keepAlive:
                if let requests = options.limits.requests {
                    "a connection for \(requests) requests" + (options.limits.resets ? ", closed by RST" : "")
                } else {
                    options.pipeline > 1 ? "keep-alive, pipeline \(options.pipeline)" : "keep-alive"
                }
            }
        let most = options.profile == nil ? "" : "at most "
        let crowd = "\(several(options.connections, "connection")) on \(several(plan.threads, "thread"))"
        let timeout = options.timeout == LoadOptions.longest ? "no timeout" : "timeout \(timeText(options.timeout))"
        let limits = options.limits.description.isEmpty ? "" : " (\(options.limits.description))"
        var lines = [
            "volley \(PackageVersion.text): \(what) \(plan.url)", "  \(most)\(crowd), \(reuse), \(timeout)\(limits)",
        ]
        if let proxy = options.proxy { lines.append("  by the proxy \(proxy)") }
        lines += plan.securityLines
        lines += scheduleWords
        if options.warmup > 0 { lines.append("  warm-up of \(timeText(options.warmup)) left out") }
        if interrupted { lines.append("  interrupted: the figures cover what there was") }
        return lines
    }

    private var countLines: [String] {
        let sum =
            "\(grouped(metrics[.sent])) sent = \(grouped(metrics[.completed])) completed + \(grouped(metrics[.failed])) failed"
            + " + \(grouped(metrics[.inFlight])) in flight at stop"
        let what = plan.options.webSocket == nil ? "Requests" : "Messages"
        var lines = [
            row("Measured", timeText(measured)),
            row(what, metrics.isBalanced ? sum : sum + "  (THESE DO NOT ADD UP: a bug in volley)"),
            row("Rate", "\(fixed(perSecond(metrics.successesInTime), 2)) successes/s"),
        ]
        if metrics.httpErrors > 0 {
            let errors = metrics.httpErrors &- min(metrics.drainedErrors, metrics.httpErrors)
            lines.append(row("", "\(fixed(perSecond(errors), 2)) HTTP errors/s"))
        }
        if metrics[.drained] > 0 {
            lines.append(row("", "\(grouped(metrics[.drained])) more were answered while the run drained: in no rate"))
        }
        if metrics.has(.schedule) { lines += scheduleLines }
        lines += streamLines(streamJSON, webSocketJSON)
        if metrics[.redirects] > 0 { lines.append(row("Redirects", "\(grouped(metrics[.redirects])) followed")) }
        let statuses = metrics.seenStatuses.map { "\($0.code) × \(grouped($0.count))" }
        if !statuses.isEmpty { lines.append(row("Status", statuses.joined(separator: ", "))) }
        for figure in Figure.remarked {
            guard let remark = figure.remark, let count = figure.integer(figures) else { continue }
            let isAsked = RunSetting.asks(for: remark.title, plan.options)
            if count > 0 || isAsked { lines.append(row(remark.title, grouped(count) + remark.words)) }
        }
        lines.append(row("Bytes in", bytes(.wireBytesIn, .bodyBytesIn, .drainedBytesIn)))
        lines.append(row("Bytes out", bytes(.wireBytesOut, .bodyBytesOut, .drainedBytesOut)))
        return lines
    }

    private func bytes(_ wire: Count, _ body: Count, _ drained: Count) -> String {
        let (all, content) = (bytesText(Double(metrics[wire])), bytesText(Double(metrics[body])))
        let rate = bytesText(perSecond(metrics.rest(wire, without: drained)))
        return "\(all)\(plan.isSecure ? " before encryption" : ""), of it content \(content); \(rate)/s"
    }

    private var latencyLines: [String] {
        let rows = Figure.tabled.compactMap { figure in  // `flatMap` ends Swift 6.3.1 under the address sanitizer.
            if let times = figure.times { histogramRow(figure.title ?? "", metrics[times]) } else { nil }
        }
        guard !rows.isEmpty else { return [] }
        var lines = [left("Latency", 12) + columnHeads] + rows
        switch plan.options.work {
        case .requests where metrics.has(.schedule):
            if !metrics[.corrected].isEmpty { lines.append(Self.explanation) }
        case .requests:
            lines.append("  closed loop: percentiles exclude requests not sent during stalls; use --rate")
        case .handshakes:
            lines.append("  closed loop: percentiles exclude connections not opened during stalls")
        }
        let clamped = [Times.corrected, .success, .httpError, .failure].reduce(0) { $0 + metrics[$1].clamped }
        if clamped > 0 { lines.append("  \(grouped(clamped)) times over an hour are counted as one hour") }
        return lines
    }

    private func distribution(of what: String, _ latency: LatencyHistogram) -> [String] {
        guard let summary = latency.summary() else { return [] }
        return ["Distribution of \(what)"]
            + summary.percentiles.map { "  " + right(name($0.percentile), 7) + " %  " + timeText($0.value) }
            + ["  mean \(timeText(summary.mean)), standard deviation \(timeText(summary.deviation))"]
    }

    private var connectionLines: [String] {
        var parts = ["\(grouped(metrics[.connectionsOpened])) opened"]
        if metrics[.connectionsFailed] > 0 { parts.append("\(grouped(metrics[.connectionsFailed])) failed") }
        let stray = metrics[.connectionsStray]
        if stray > 0 { parts.append("\(grouped(stray)) closed at rest for bytes that no request had asked for") }
        return [row("Connections", parts.joined(separator: ", "))]
    }

    private var failureLines: [String] {
        ["Errors"]
            + metrics.failures.sorted.flatMap { failure, record in
                var what = "\(failure.phase.rawValue): \(failure.kind.rawValue)"
                if failure.errno != 0 { what += " (\(Errno(code: failure.errno).name) \(failure.errno))" }
                if !failure.detail.isEmpty { what += ": \(failure.detail)" }
                let times = "first at \(timeText(record.first)), last at \(timeText(record.last))"
                return [
                    "  \(grouped(record.count)) × \(what); \(times)", "    e.g. \(oneLine(record.example, limit: 400))",
                ]
            }
    }

    private var threadLines: [String] {
        var lines = ["Threads   connections     completed" + right(plan.options.work.unit, 14) + "     CPU"]
        for (index, thread) in threads.enumerated() {
            let cpu = measured == 0 ? 0 : Double(thread.cpuNanoseconds) / Double(measured) * 100
            lines.append(
                right("\(index)", 7) + right("\(thread.connections)", 14) + right(grouped(thread.completed), 14)
                    + right(fixed(perSecond(thread.completedInTime), 2), 14) + right(fixed(cpu, 0), 6) + " %"
            )
        }
        // With a schedule the connections are a limit, and most of them may never have been opened.
        let rates = threads.map { Double($0.completed) / Double(max(1, $0.connections)) }
        if plan.options.profile == nil, let most = rates.max(), let least = rates.min(), most > least * 1.2 {
            let words =
                least > 0
                ? "did \(fixed(most / least, 1)) times as much on one thread as on another"
                : "completed something on one thread and nothing on another"
            lines.append("  uneven: a connection \(words)")
        }
        return lines
    }
}

extension RunResult {
    private var scheduleWords: [String] {
        if let profile = plan.options.profile {
            var line =
                "  open loop: \(profile.description)" + (plan.options.isPoisson ? ", by chance (Poisson)" : "")
            if plan.options.drain > 0 { line += ", then up to \(timeText(plan.options.drain)) for what is late" }
            return [line]
        }
        let think = plan.options.think.map { "each connection rests for \($0.description) after an answer" }
        return [plan.options.crowd?.words, think].compactMap { words in words.map { "  " + $0 } }
    }

    private var scheduleLines: [String] {
        var text = "\(grouped(metrics[.due])) due"
        // A visit of a program may make no request, or several.
        if !plan.options.hasVisits {
            text +=
                " = \(grouped(metrics.dueSent)) sent + \(grouped(metrics[.refused])) refused + \(grouped(metrics[.unsent])) unsent"
            if !metrics.isScheduleBalanced { text += "  (THESE DO NOT ADD UP: a bug in volley)" }
        }
        var lines = [row("Schedule", text)]
        if metrics[.delayed] > 0 {
            lines.append(row("", "\(grouped(metrics[.delayed])) of them were due when no connection was free"))
        }
        if let ratio = metrics.rateRatio {
            let wanted = fixed(perSecond(metrics[.due]), 2)
            lines.append(row("", "\(fixed(ratio * 100, 2)) % of them answered in time for a rate of \(wanted)/s"))
        }
        if let lag = metrics[.lag].summary(percentiles: [50, 99]) {
            lines.append(row("Send lag", "\(lag.parts.joined(separator: ", ")): volley's own lateness"))
        }
        return lines + generatorLimits.map { row("INVALID", "volley was the limit: \($0)") }
    }

    private static let explanation =
        "  corrected: from the instant a request was due, stalls included; raw: from its first byte sent"
}

extension RunPlan {
    /// A line about verification, authorities, server name, client certificate and resumption, as far as these are not
    /// the defaults.
    package var securityLines: [String] {
        guard let configuration = options.security.target?.configuration else { return [] }
        var parts: [String] = []
        if configuration.verifiesServers == false {
            parts.append("certificates are not verified")
        } else if let roots = options.security.givenRoots {
            parts.append("trusted: \(roots)")
        }
        if let name = options.security.serverName { parts.append("server name \(name)") }
        if configuration.identity != nil { parts.append("with a client certificate") }
        if !configuration.resumes { parts.append("no session resumed") }
        return parts.isEmpty ? [] : ["  TLS: " + parts.joined(separator: ", ")]
    }
}

extension RunResult {
    /// The counts of handshakes, for a run that sends no requests.
    package var handshakeLines: [String] {
        [
            row("Measured", timeText(measured)),
            row(
                "Connections",
                "\(grouped(metrics[.connectionsOpened])) opened, \(grouped(metrics[.connectionsFailed])) failed, "
                    + "\(grouped(metrics[.connectionsUnfinished])) in flight at stop"
            ),
            row("Rate", "\(fixed(perSecond(metrics[.connectionsOpened]), 2)) connections/s"),
        ]
    }

    private var handshakeSums: [String] {
        let log = metrics.handshakes
        guard let share = log.resumedShare else { return [] }
        let counts =
            "\(grouped(log.count)) handshakes = \(grouped(log.full)) full + \(grouped(log.resumed)) resumed "
            + "(\(fixed(share * 100, 1)) %)"
        return [row("TLS", counts)]
            + log.sorted.map { row("", "\($0.version), \($0.cipherSuite) × \(grouped($0.count))") }
    }
}

extension SavedReport {
    package func text(in style: TextStyle = .plain) throws(UsageError) -> String {
        let run = document["run"]
        let parts = run?["merged_from"]?.integer ?? 1
        let count = { (section: String, name: String) in document[section]?[name]?.integer ?? 0 }
        var lines = [
            "volley \(PackageVersion.text): \(several(Int(clamping: parts), "report")) of \(oneLine(run?["url"]?.string ?? "", limit: 400))",
            "  \(several(Int(clamping: count("run", "connections")), "connection")) on "
                + several(Int(clamping: count("run", "threads")), "thread"),
        ]
        if run?["interrupted"]?.bool == true { lines.append("  interrupted: the figures cover what there was") }
        lines += ["", row("Measured", timeText(count("run", "measured_ns")))]
        let sum =
            "\(grouped(count("requests", "sent"))) sent = \(grouped(count("requests", "completed"))) completed + "
            + "\(grouped(count("requests", "failed"))) failed + \(grouped(count("requests", "in_flight_at_stop"))) in flight at stop"
        lines.append(row("Requests", sum))
        for figure in Figure.remarked {
            let count = count(figure.section.rawValue, figure.name)
            if count > 0, let remark = figure.remark {
                lines.append(row(remark.title, grouped(count) + remark.words))
            }
        }
        if document["schedule"]?["due"] != nil {
            let (due, unsent) = (grouped(count("schedule", "due")), grouped(count("schedule", "unsent")))
            lines.append(row("Schedule", "\(due) due, \(unsent) never sent"))
        }
        lines += style.judged(
            generatorLimits.map { row("INVALID", "volley was the limit: \(oneLine($0, limit: 400))") }
        )
        let unit = isHandshakes ? "connections/s" : "successes/s"
        lines.append(row("Rate", "\(fixed(rate, 2)) \(unit)"))
        lines += streamLines(document["stream"], document["websocket"])
        if case .object(let statuses)? = document["statuses"], !statuses.isEmpty {
            let text = statuses.map { "\($0.0) × \(grouped($0.1.integer ?? 0))" }.joined(separator: ", ")
            lines.append(row("Status", text))
        }
        let corrected = try histogram(.corrected)
        let times = isHandshakes ? "TLS handshakes" : corrected == nil ? "successes" : "corrected times"
        let sections = [
            style.headed(try latencyLines()), style.histogram(of: times, try headline() ?? LatencyHistogram()),
            style.headed(try nameLines(document["names"]?.items ?? [], path)),
            style.headed(errorLines(document["errors"]?.items ?? []), .red),
        ]
        for section in sections where !section.isEmpty { lines += [""] + section }
        let failed = (document["failed_limits"]?.items ?? []).compactMap(\.string)
        if !failed.isEmpty { lines += [""] + style.judged(failed.map { "FAILED: \(oneLine($0, limit: 400))" }) }
        let notes = (document["notes"]?.items ?? []).compactMap(\.string).map { "note: \(oneLine($0, limit: 400))" }
        if !notes.isEmpty { lines += [""] + notes }
        return lines.joined(separator: "\n") + "\n"
    }

    private func latencyLines() throws(UsageError) -> [String] {
        var rows: [String] = []
        for figure in Figure.tabled {
            guard let title = figure.title, let histogram = try histogram(figure) else { continue }
            if let row = histogramRow(title, histogram) { rows.append(row) }
        }
        return rows.isEmpty ? [] : [left("Latency", 12) + columnHeads] + rows
    }

    private func errorLines(_ rows: [JSONTree]) -> [String] {
        let lines = rows.map { "  \(grouped($0["count"]?.integer ?? 0)) × \(oneLine(failureWords($0)))" }
        return lines.isEmpty ? [] : ["Errors"] + lines
    }
}

func failureWords(_ row: JSONTree) -> String {
    ["phase", "class", "errno_name", "detail"].compactMap { row[$0]?.string }.filter { !$0.isEmpty }
        .joined(separator: ": ")
}

/// The lines about streams and WebSockets, of one run or merged from several.
func streamLines(_ stream: JSONTree?, _ sockets: JSONTree?) -> [String] {
    let found = eventWords(stream).map { [row("Events", $0)] } ?? []
    return found + zip(["WebSockets", ""], webSocketWords(sockets)).map(row)
}

private let columns: [Double] = [50, 90, 99, 99.9, 99.99]

var columnHeads: String {
    (["min", "mean"] + columns.map { "p\(name($0))" } + ["max"]).map { right($0, 10) }.joined()
}

func histogramRow(_ name: String, _ values: LatencyHistogram) -> String? {
    guard let summary = values.summary(percentiles: columns) else { return nil }
    return "  " + left(name, 10) + timeCells(summary).map { right($0, 10) }.joined()
}

func timeCells(_ summary: LatencyHistogram.Summary) -> [String] {
    let times = [Double(summary.minimum), summary.mean] + summary.percentiles.map { Double($0.value) }
    return (times + [Double(summary.maximum)]).map { timeText($0) }
}

func row(_ name: String, _ text: String) -> String { left(name, 12) + text }

private func name(_ percentile: Double) -> String { LatencyHistogram.name(ofPercentile: percentile) }

/// - Parameter part: the report's member, of one run or merged from several. Nil for the null of other runs.
func eventWords(_ part: JSONTree?) -> String? {
    guard let part, let events = part["events"]?.integer else { return nil }
    let count = { (name: String) in part[name]?.integer ?? 0 }
    return "\(grouped(events)), \(fixed(part["events_per_second"]?.number ?? 0, 2))/s; "
        + "\(grouped(count("stalls"))) gaps of more than \(timeText(count("stall_ns"))); "
        + "\(grouped(count("silent"))) streams without an event"
}

/// Returns the text of each line; empty for other runs.
func webSocketWords(_ part: JSONTree?) -> [String] {
    guard let part, let opened = part["opened"]?.integer else { return [] }
    let each = part["messages_per_connection"]?.number.map { ", \(fixed($0, 1)) messages on each" } ?? ""
    let rate = fixed(part["opened_per_second"]?.number ?? 0, 2)
    let count = { (name: String) in grouped(part[name]?.integer ?? 0) }
    return [
        "\(grouped(opened)) opened in the measured part, \(rate)/s\(each)",
        "\(count("dropped")) ended by the server at rest; \(count("pushed")) messages that answered none",
    ]
}

/// The table of a report's names, of one run or merged from several.
func nameLines(_ rows: [JSONTree], _ path: String) throws(UsageError) -> [String] {
    guard !rows.isEmpty else { return [] }
    let texts = rows.map { shownName($0, limit: 60) }
    let width = max(12, (texts.map(\.count).max() ?? 0) + 2)
    var lines = [left("Names", width) + nameHeads.map { right($0, 11) }.joined()]
    for (row, name) in zip(rows, texts) {
        lines.append(left(name, width) + (try nameCells(row, path)).map { right($0, 11) }.joined())
    }
    return lines
}

let nameHeads = ["completed", "errors", "mean", "p50", "p90", "p99", "max"]
private let namePercentiles: [Double] = [50, 90, 99]

func shownName(_ row: JSONTree, limit: Int) -> String { oneLine(row["name"]?.string ?? "", limit: limit) }

func nameCells(_ row: JSONTree, _ path: String) throws(UsageError) -> [String] {
    let count = { (name: String) in row[name]?.integer ?? 0 }
    let summary = try SavedReport.times(of: row, path)?.summary(percentiles: namePercentiles)
    return [grouped(count("completed")), grouped(count("failed") &+ count("http_errors"))]
        + [summary?.mean].map { $0.map { timeText($0) } ?? "-" }
        + namePercentiles.map { percentile in summary?[percentile].map { timeText($0) } ?? "-" }
        + [summary.map { timeText($0.maximum) } ?? "-"]
}

extension LoadReport {
    /// The report for people, as volley prints it. It has several lines and ends with a line end.
    public var text: String { result.text }

    /// The report for programs: one JSON document, which `volley schema` describes. Its times are nanoseconds.
    public var json: String { result.json.text }
}
