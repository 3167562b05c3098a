import UncurlLoad
import UncurlText

extension SavedReport {
    /// The JSON Schema (draft 2020-12) of a report, which `volley --schema` prints.
    ///
    /// Any release may add members. `schema` is raised when a member is removed or changes its meaning.
    package static let schemaText = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "A report of volley",
          "description": "Times are nanoseconds, rates are per second of measured time.",
          "type": "object",
          "additionalProperties": false,
          "required": [\#(lines(members, 4))],
          "properties": {
            "schema": {"const": 2},
            "volley": {"description": "Version of volley.", "type": "string"},
            "run": {
              "type": "object",
              "additionalProperties": false,
              "required": [\#(RunSetting.all.map { "\"\($0.name)\"" }.joined(separator: ", "))],
              "properties": {
                \#(RunSetting.all.map { "\"\($0.name)\": \($0.schema)" }.joined(separator: ",\n        ")),
                "merged_from": {
                  "description": "The number of merged reports, in a report of volley merge.",
                  "type": "integer",
                  "minimum": 1
                }
              }
            },
            "requests": \#(section(.requests)),
            "rate": \#(section(.rate)),
            "statuses": {
              "description": "Responses by status code.",
              "type": "object",
              "additionalProperties": {"type": "integer", "minimum": 0}
            },
            "bytes": \#(
                section(
                    .bytes,
                    "The bytes of messages, and those of their contents; over TLS, before encryption."
                )
            ),
            "connections": \#(
                section(
                    .connections,
                    "Connections of the whole run with its warm-up; of handshakes, of the measured part only."
                )
            ),
            "tls": {
              "description": "The handshakes with the server that led to a connection; null without any.",
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": ["handshakes", "full", "resumed", "resumed_share", "agreements"],
              "properties": {
                "handshakes": {"type": "integer", "minimum": 0},
                "full": {"type": "integer", "minimum": 0},
                "resumed": {"type": "integer", "minimum": 0},
                "resumed_share": {"description": "0 to 1.", "type": "number", "minimum": 0},
                "agreements": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["version", "cipher_suite", "count"],
                    "properties": {
                      "version": {"enum": ["TLS 1.2", "TLS 1.3"]},
                      "cipher_suite": {"description": "IANA's name.", "type": "string"},
                      "count": {"type": "integer", "minimum": 0}
                    }
                  }
                }
              }
            },
            "latency": \#(
                section(
                    .latency,
                    "In a closed loop, requests that were not sent during stalls are missing."
                )
            ),
            "schedule": {"$ref": "#/$defs/schedule"},
            "stream": \#(
                section(.stream, "The events of answers that are streams. Null for others.")
            ),
            "websocket": {"$ref": "#/$defs/websocket"},
            "names": {"$ref": "#/$defs/names"},
            "errors": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": [\#(lines(errorMembers, 10))],
                "properties": {
                  "phase": {"enum": [\#(Phase.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))]},
                  "class": {
                    "enum": [\#(lines(FailureClass.allCases.map(\.rawValue), 14))]
                  },
                  "errno": {"type": ["integer", "null"]},
                  "errno_name": {"type": ["string", "null"]},
                  "detail": {"type": "string"},
                  "count": {"type": "integer", "minimum": 0},
                  "first_ns": {"description": "Since the start of the run.", "type": "integer", "minimum": 0},
                  "last_ns": {"type": "integer", "minimum": 0},
                  "example": {"type": "string"}
                }
              }
            },
            "threads": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["connections", "completed", "completed_per_second", "cpu_ns", "queued_ns"],
                "properties": {
                  "connections": {"type": "integer", "minimum": 0},
                  "completed": {"type": "integer", "minimum": 0},
                  "completed_per_second": {"type": "number", "minimum": 0},
                  "cpu_ns": {"type": "integer", "minimum": 0},
                  "queued_ns": {"description": "The thread could run but had no core.", "type": "integer", "minimum": 0}
                }
              }
            },
            "intervals": {"$ref": "#/$defs/intervals"},
            "runs": {"$ref": "#/$defs/runs"},
            "limits": {"$ref": "#/$defs/limits"},
            "failed_limits": {"description": "Conditions of --fail-if that hold, and their values.", "type": "array", "items": {"type": "string"}},
            "notes": {"type": "array", "items": {"type": "string"}},
            "exit_status": {"enum": [0, 2, 3, 4, 5, 130]}
          },
        \#(definitions)
        }
        """#
}

/// The definitions that the schema refers to by name, and the members that have figures.
extension SavedReport {
    /// The members of a report, and those of a failure in it.
    private static let members = [
        "schema", "volley", "run", "requests", "rate", "statuses", "bytes", "connections", "tls", "latency", "schedule",
        "stream", "websocket", "names", "errors", "threads", "intervals", "runs", "limits", "failed_limits", "notes",
        "exit_status",
    ]
    private static let errorMembers = [
        "phase", "class", "errno", "errno_name", "detail", "count", "first_ns", "last_ns", "example",
    ]

    /// A list of texts, each in a line of its own.
    private static func lines(_ texts: [String], _ depth: Int) -> String {
        let line = "\n" + String(repeating: " ", count: depth)
        return texts.map { "\(line)\(quoted($0))" }.joined(separator: ",") + line.dropLast(2)
    }

    /// A member that has figures: an object, or null where only some runs have it.
    ///
    /// - Parameter depth: The spaces before the member's line.
    private static func section(_ section: Figure.Section, _ description: String? = nil, depth: Int = 4) -> String {
        let figures = Figure.of(section).filter(\.isMember)
        let line = { (spaces: Int) in "\n" + String(repeating: " ", count: depth + spaces) }
        let members = figures.map { "\(line(4))\(quoted($0.name)): \(rule($0))" }.joined(separator: ",")
        let rules = [
            description.map { "\"description\": \(quoted($0))" },
            section.part == .run ? #""type": "object""# : #""type": ["object", "null"]"#,
            #""additionalProperties": false"#,
            "\"required\": [\(figures.map { quoted($0.name) }.joined(separator: ", "))]",
            "\"properties\": {\(members)\(line(2))}",
        ]
        return "{" + rules.compactMap(\.self).map { line(2) + $0 }.joined(separator: ",") + line(0) + "}"
    }

    private static func rule(_ figure: Figure) -> String {
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

    private static let definitions = #"""
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
