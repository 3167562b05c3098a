import UncurlLoad

/// The JSON Schema (draft 2020-12) of ``JSONReport``, which `volley --schema` prints.
///
/// Any release may add members. `schema` is raised when a member is removed or changes its meaning.
package enum ReportSchema {
    package static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "A report of volley",
          "description": "Times are nanoseconds, rates are per second of measured time.",
          "type": "object",
          "additionalProperties": false,
          "required": [
            "schema",
            "volley",
            "run",
            "requests",
            "rate",
            "statuses",
            "bytes",
            "connections",
            "tls",
            "latency",
            "schedule",
            "stream",
            "websocket",
            "names",
            "errors",
            "threads",
            "intervals",
            "runs",
            "limits",
            "failed_limits",
            "notes",
            "exit_status"
          ],
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
            "requests": \#(ReportSchemaParts.section(.requests)),
            "rate": \#(ReportSchemaParts.section(.rate)),
            "statuses": {
              "description": "Responses by status code.",
              "type": "object",
              "additionalProperties": {"type": "integer", "minimum": 0}
            },
            "bytes": \#(
                ReportSchemaParts.section(
                    .bytes,
                    "The bytes of messages, and those of their contents; over TLS, before encryption."
                )
            ),
            "connections": \#(
                ReportSchemaParts.section(
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
                ReportSchemaParts.section(
                    .latency,
                    "In a closed loop, requests that were not sent during stalls are missing."
                )
            ),
            "schedule": {"$ref": "#/$defs/schedule"},
            "stream": \#(
                ReportSchemaParts.section(.stream, "The events of answers that are streams. Null for others.")
            ),
            "websocket": {"$ref": "#/$defs/websocket"},
            "names": {"$ref": "#/$defs/names"},
            "errors": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": [
                  "phase",
                  "class",
                  "errno",
                  "errno_name",
                  "detail",
                  "count",
                  "first_ns",
                  "last_ns",
                  "example"
                ],
                "properties": {
                  "phase": {"enum": ["resolve", "connect", "proxy", "tls", "write", "first-byte", "head", "body", "upgrade", "message", "check"]},
                  "class": {
                    "enum": [
                      "unresolved",
                      "refused",
                      "unreachable",
                      "no-local-port",
                      "descriptor-limit",
                      "timeout",
                      "reset",
                      "closed-before-answer",
                      "closed-in-head",
                      "closed-in-body",
                      "closed-in-handshake",
                      "untrusted",
                      "tls-alert",
                      "tls-protocol",
                      "proxy-refused",
                      "proxy-authentication",
                      "malformed",
                      "surplus",
                      "unexpected",
                      "redirect-limit",
                      "upgrade-refused",
                      "close-frame",
                      "limit",
                      "other"
                    ]
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
        \#(ReportSchemaParts.definitions)
        }
        """#
}
