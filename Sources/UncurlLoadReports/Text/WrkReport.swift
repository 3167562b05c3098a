package import UncurlLoad

/// The report in the format of wrk 4.1, line by line, for scripts that read it.
///
/// It does not repeat wrk's errors. Latencies are as measured, while wrk adds samples after a stall; with a schedule
/// they are corrected, as in wrk2. A response slower than the timeout is a failure, and the error line counts every
/// request without an answer, or with an unexpected one.
extension RunResult {
    package var wrk: String {
        var lines = [wrkHeadline]
        lines.append("  \(plan.threads) threads and \(plan.options.connections) connections")
        lines.append("  Thread Stats   Avg      Stdev     Max   +/- Stdev")
        let latency = wrkLatency
        lines.append(row("Latency", latency) { wrkTime($0 / 1_000) })
        lines.append(row("Req/Sec", metrics[.rates], wrkCount))
        if plan.options.showsDistribution { lines += wrkDistribution(latency) }
        let runtime = wrkTime(Double(measured) / 1_000)
        let read = wrkBytes(Double(metrics[.wireBytesIn]))
        lines.append("  \(metrics[.completed]) requests in \(runtime), \(read)B read")
        if let socketErrors { lines.append(socketErrors) }
        if metrics.httpErrors > 0 { lines.append("  Non-2xx or 3xx responses: \(metrics.httpErrors)") }
        lines.append("Requests/sec: " + right(fixed(perSecond(metrics.doneInTime(.requests)), 2), 9))
        lines.append(
            "Transfer/sec: "
                + right(wrkBytes(perSecond(metrics.rest(.wireBytesIn, without: .drainedBytesIn))), 10)
                + "B"
        )
        return lines.joined(separator: "\n") + "\n"
    }

    /// The times of all answers. With a schedule, an answer with an HTTP error has no corrected time.
    private var wrkLatency: LatencyHistogram {
        if metrics.has(.schedule) { return metrics[.corrected] }
        var latency = metrics[.success]
        latency.merge(metrics[.httpError])
        return latency
    }

    private var wrkHeadline: String {
        if let duration = plan.options.duration {
            return "Running \(wrkSeconds(Double(duration) / 1e9)) test @ \(plan.url)"
        }
        return "Running \(plan.options.requests ?? 0) requests test @ \(plan.url)"
    }

    private func row(_ name: String, _ values: LatencyHistogram, _ format: (Double) -> String) -> String {
        let summary = values.summary(percentiles: [])
        let within = summary.map { values.withinOneDeviation($0) } ?? 0
        return "    " + left(name, 10)
            + wrkColumn(format(summary?.mean ?? 0), 8)
            + wrkColumn(format(summary?.deviation ?? 0), 10)
            + wrkColumn(format(Double(summary?.maximum ?? 0)), 9)
            + right(fixed(within, 2), 8) + "%"
    }

    private func wrkDistribution(_ latency: LatencyHistogram) -> [String] {
        let percentiles: [Double] = [50, 75, 90, 99]
        let summary = latency.summary(percentiles: percentiles)
        return ["  Latency Distribution"]
            + percentiles.map { percentile in
                let value = wrkTime(Double(summary?[percentile] ?? 0) / 1_000)
                return right(fixed(percentile, 0), 7) + "%" + wrkColumn(value, 10)
            }
    }

    /// wrk has four kinds of socket errors; a timeout is one of them wherever it happened.
    private var socketErrors: String? {
        guard !metrics.failures.isEmpty else { return nil }
        let count = { (wanted: String) in metrics.failures.count { Self.socketError($0) == wanted } }
        return "  Socket errors: "
            + ["connect", "read", "write", "timeout"].map { "\($0) \(count($0))" }.joined(separator: ", ")
    }

    private static func socketError(_ failure: Failure) -> String {
        switch failure.phase {
        case _ where failure.kind == .timeout: "timeout"
        case .resolve, .connect, .proxy, .tls, .upgrade: "connect"
        case .responseStart, .head, .body, .message, .check: "read"
        case .write: "write"
        }
    }
}

/// Numbers in wrk's format (its `units.c`). The next unit is used from 85 % of it on. wrk never uses the last unit of
/// each family, so two hours are `120m` and 900,000 µs are `900.00ms`.
/// Microseconds as `45.00us`, `1.23ms`, `2.00s`, `1.50m`.
func wrkTime(_ value: Double) -> String {
    value >= 1_000_000
        ? scaled(value / 1_000_000, by: 60, base: "s", ["m"], decimals: 2)
        : scaled(value, by: 1_000, base: "us", ["ms"], decimals: 2)
}

/// Whole seconds as `10s`, `2m`.
func wrkSeconds(_ value: Double) -> String { scaled(value, by: 60, base: "s", ["m"], decimals: 0) }

/// Bytes as `512.00`, `1.21M`; the caller adds the `B`.
func wrkBytes(_ value: Double) -> String {
    scaled(value, by: 1_024, base: "", ["K", "M", "G", "T"], decimals: 2)
}

/// Counts as `512.00`, `48.12k`.
func wrkCount(_ value: Double) -> String {
    scaled(value, by: 1_000, base: "", ["k", "M", "G", "T"], decimals: 2)
}

/// A number in a column. wrk adds as many spaces as its unit is shorter than two letters.
func wrkColumn(_ text: String, _ width: Int) -> String {
    let letters = text.suffix(2).filter(\.isLetter).count
    let pad = 2 - letters
    let cut = String(text.prefix(width - pad))
    return right(cut, width - pad) + String(repeating: " ", count: pad)
}

private func scaled(
    _ value: Double,
    by scale: Double,
    base: String,
    _ units: [String],
    decimals: Int
) -> String {
    var amount = value
    var unit = base
    for next in units where amount >= scale * 0.85 {
        amount /= scale
        unit = next
    }
    return fixed(amount, decimals) + unit
}
