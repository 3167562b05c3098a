import UncurlLoad
import UncurlText

extension RunFigures {
    var json: JSONTree {
        .object([("per_second", .number(perSecond)), ("p50_ns", .optional(p50)), ("p99_ns", .optional(p99))])
    }
}

extension ThresholdOutcome {
    var json: JSONTree {
        .array(
            all.map {
                .object([
                    ("condition", .string($0.condition)), ("found", .string($0.figure)), ("kept", .bool($0.isKept)),
                ])
            }
        )
    }
}
