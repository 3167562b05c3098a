import UncurlLoad

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

    static func counts(_ schedule: ScheduleMetrics, _ result: RunResult) -> [String] {
        var text = "\(grouped(schedule.due)) due"
        // A visit of a script may make no request, or several.
        if !result.plan.users.isScripted {
            text +=
                " = \(grouped(schedule.sent)) sent + \(grouped(schedule.refused)) refused + \(grouped(schedule.unsent)) unsent"
            if !schedule.isBalanced { text += "  (THESE DO NOT ADD UP: a bug in volley)" }
        }
        var lines = [TextReport.row("Schedule", text)]
        if schedule.delayed > 0 {
            lines.append(
                TextReport.row("", "\(grouped(schedule.delayed)) of them were due when no connection was free")
            )
        }
        if let ratio = result.metrics.rateRatio {
            let wanted = fixed(result.perSecond(schedule.due), 2)
            lines.append(
                TextReport.row("", "\(fixed(ratio * 100, 2)) % of them answered in time for a rate of \(wanted)/s")
            )
        }
        if let lag = schedule.lag.summary(percentiles: [50, 99]), let p50 = lag[50], let p99 = lag[99] {
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
