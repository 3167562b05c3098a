import UncurlLoad
import UncurlText

/// The part of the JSON report about a run with a schedule.
enum SchedulePart {
    /// The part; null without a schedule.
    static func json(_ result: RunResult) -> JSONTree {
        guard let schedule = result.metrics.schedule, let profile = result.plan.profile else { return .null }
        return .object([
            (
                "stages",
                .array(
                    profile.stages.map { stage in
                        .object([
                            ("duration_ns", .integer(stage.duration)),
                            ("from_per_second", .number(stage.from.perSecond)),
                            ("to_per_second", .number(stage.to.perSecond)),
                        ])
                    }
                )
            ),
            ("wanted_per_second", .number(result.perSecond(schedule.due))),
            ("rate_ratio", result.metrics.rateRatio.map { .number($0) } ?? .null),
            ("due", .integer(schedule.due)),
            ("sent", .integer(schedule.sent)),
            ("refused", .integer(schedule.refused)),
            ("unsent", .integer(schedule.unsent)),
            ("delayed", .integer(schedule.delayed)),
            ("corrected", schedule.corrected.json),
            ("without_lag", schedule.unlagged.json),
            ("lag", schedule.lag.json),
            ("wait", schedule.wait.json),
            ("generator_limits", .array(result.generatorLimits.map { .string($0) })),
        ])
    }
}
