import UncurlLoad
import UncurlText

/// The definitions that ``ReportSchema`` refers to by name, and the members that have figures.
enum ReportSchemaParts {
    /// A member that has figures: an object, or null where only some runs have it.
    ///
    /// - Parameter depth: The spaces before the member's line.
    static func section(_ section: Figure.Section, _ description: String? = nil, depth: Int = 4) -> String {
        let figures = Figure.of(section).filter(\.isMember)
        let line = { (spaces: Int) in "\n" + String(repeating: " ", count: depth + spaces) }
        let members = figures.map { "\(line(4))\(quoted($0.name)): \(schema($0))" }.joined(separator: ",")
        let rules = [
            description.map { "\"description\": \(quoted($0))" },
            section.part == .run ? #""type": "object""# : #""type": ["object", "null"]"#,
            #""additionalProperties": false"#,
            "\"required\": [\(figures.map { quoted($0.name) }.joined(separator: ", "))]",
            "\"properties\": {\(members)\(line(2))}",
        ]
        return "{" + rules.compactMap(\.self).map { line(2) + $0 }.joined(separator: ",") + line(0) + "}"
    }

    private static func schema(_ figure: Figure) -> String {
        let rule: String
        switch figure.value {
        case .count, .whole: rule = number("integer", figure)
        case .perSecond, .ratio: rule = number("number", figure)
        case .flag: rule = #""type": "boolean""#
        case .times: rule = ##""$ref": "#/$defs/histogram""##
        case .other(let schema): return schema
        }
        return "{" + (figure.help.map { "\"description\": \(quoted($0)), " } ?? "") + rule + "}"
    }

    private static func number(_ type: String, _ figure: Figure) -> String {
        (figure.isOptional ? #""type": ["\#(type)", "null"]"# : #""type": "\#(type)""#)
            + (figure.isUnbounded ? "" : #", "minimum": 0"#)
    }

    private static func quoted(_ text: String) -> String { JSONTree.string(text).line() }

    static let definitions = #"""
          "$defs": {
            "websocket": \#(
                section(.websocket, "The figures of WebSockets, whose messages are the requests. Null for others.")
            ),
            "schedule": \#(section(.schedule, "The figures of an open loop; null otherwise.")),
            "intervals": {
              "description": "The course of the measured part. In a long run several intervals are combined.",
              "type": "array",
              "items": \#(section(.intervals, depth: 6))
            },
            "runs": {
              "description": "Each single run of --repeat; otherwise the one run.",
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["per_second", "p50_ns", "p99_ns"],
                "properties": {
                  "per_second": {"description": "Successes, or connections.", "type": "number", "minimum": 0},
                  "p50_ns": {"type": ["integer", "null"]},
                  "p99_ns": {"type": ["integer", "null"]}
                }
              }
            },
            "names": {
              "description": "The figures of each name, if requests have names, in the order of their first use.",
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["name", "completed", "succeeded", "http_errors", "failed", "latency"],
                "properties": {
                  "name": {"type": "string"},
                  "completed": {"type": "integer", "minimum": 0},
                  "succeeded": {"type": "integer", "minimum": 0},
                  "http_errors": {"type": "integer", "minimum": 0},
                  "failed": {"description": "Failed requests, including those without a connection.", "type": "integer", "minimum": 0},
                  "latency": {"description": "corrected with a schedule, otherwise raw.", "$ref": "#/$defs/histogram"}
                }
              }
            },
            "limits": {
              "description": "The conditions of --fail-if, in their order.",
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["condition", "found", "kept"],
                "properties": {
                  "condition": {"description": "The condition as it was given.", "type": "string"},
                  "found": {"description": "The value of its figure.", "type": "string"},
                  "kept": {"description": "True if the condition did not hold: the run has not failed by it.", "type": "boolean"}
                }
              }
            },
            "histogram": {
              "description": "null when nothing was counted; three significant digits.",
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": ["count", "over_range", "min", "mean", "stdev", "max", "percentiles", "sum", "hdr"],
              "properties": {
                "count": {"type": "integer", "minimum": 0},
                "over_range": {
                  "description": "Values above an hour, counted as an hour.",
                  "type": "integer",
                  "minimum": 0
                },
                "min": {"type": "integer", "minimum": 0},
                "mean": {"type": "number", "minimum": 0},
                "stdev": {"type": "number", "minimum": 0},
                "max": {"type": "integer", "minimum": 0},
                "percentiles": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                "sum": {"description": "Of all values, modulo 2^64.", "type": "integer", "minimum": 0},
                "hdr": {"description": "The counters: HdrHistogram's V2, compressed, as Base64.", "type": "string"}
              }
            }
          }
        """#
}
