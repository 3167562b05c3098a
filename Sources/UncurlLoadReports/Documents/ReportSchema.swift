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
              "required": [
                "url",
                "method",
                "body_bytes",
                "mode",
                "schedule",
                "arrivals",
                "crowd",
                "scenarios",
                "think",
                "drain_ns",
                "max_lag_ns",
                "work",
                "connections",
                "threads",
                "pipeline",
                "reuse",
                "proxy",
                "tls",
                "timeout_ns",
                "connect_timeout_ns",
                "first_byte_timeout_ns",
                "idle_timeout_ns",
                "retry",
                "connection_age_ns",
                "sending_bytes_per_second",
                "receiving_bytes_per_second",
                "requests_per_connection",
                "warmup_ns",
                "duration_ns",
                "requests",
                "started_unix_ms",
                "measured_ns",
                "interrupted"
              ],
              "properties": {
                "url": {"type": "string"},
                "method": {"type": "string"},
                "body_bytes": {"type": "integer", "minimum": 0},
                "mode": {"enum": ["closed-loop", "open-loop"]},
                "schedule": {"description": "Open loop: the rates, in words.", "type": ["string", "null"]},
                "arrivals": {"description": "Open loop: at equal distances, or at random.", "enum": ["even", "poisson", null]},
                "crowd": {"description": "Closed loop: the numbers of connections over time, in words.", "type": ["string", "null"]},
                "scenarios": {
                  "description": "The scenarios of users' visits, by name; null where each request stands alone.",
                  "type": ["array", "null"],
                  "items": {"type": "string"}
                },
                "think": {"description": "Closed loop: the pause after an answer, in words.", "type": ["string", "null"]},
                "drain_ns": {"type": "integer", "minimum": 0},
                "max_lag_ns": {
                  "description": "Open loop: how far volley's own lateness may move a percentile.",
                  "type": ["integer", "null"]
                },
                "work": {
                  "description": "handshakes: connections are opened with TLS and closed; no requests are sent.",
                  "enum": ["requests", "handshakes"]
                },
                "connections": {"type": "integer", "minimum": 0},
                "threads": {"type": "integer", "minimum": 0},
                "pipeline": {"type": "integer", "minimum": 0},
                "reuse": {"enum": ["keep-alive", "fin", "rst"]},
                "proxy": {"description": "The proxy, without its credentials.", "type": ["string", "null"]},
                "tls": {
                  "description": "The TLS settings; null for http.",
                  "type": ["object", "null"],
                  "additionalProperties": false,
                  "required": ["verified", "server_name", "client_certificate", "resumption", "minimum", "maximum"],
                  "properties": {
                    "verified": {"type": "boolean"},
                    "server_name": {"type": "string"},
                    "client_certificate": {"type": "boolean"},
                    "resumption": {"type": "boolean"},
                    "minimum": {"enum": ["TLS 1.2", "TLS 1.3"]},
                    "maximum": {"enum": ["TLS 1.2", "TLS 1.3"]}
                  }
                },
                "timeout_ns": {"type": "integer", "minimum": 0},
                "connect_timeout_ns": {"type": ["integer", "null"]},
                "first_byte_timeout_ns": {"type": ["integer", "null"]},
                "idle_timeout_ns": {"type": ["integer", "null"]},
                "retry": {"description": "Whether --retry sends requests again.", "type": "boolean"},
                "connection_age_ns": {"description": "The upper bound of --connection-age.", "type": ["integer", "null"]},
                "sending_bytes_per_second": {"description": "On each connection.", "type": ["integer", "null"]},
                "receiving_bytes_per_second": {"type": ["integer", "null"]},
                "requests_per_connection": {"type": ["integer", "null"]},
                "warmup_ns": {"type": "integer", "minimum": 0},
                "duration_ns": {
                  "description": "The requested length; null when only a count ends the run.",
                  "type": ["integer", "null"]
                },
                "requests": {"description": "The requested number.", "type": ["integer", "null"]},
                "started_unix_ms": {"type": "integer", "minimum": 0},
                "measured_ns": {
                  "description": "The actual length of the measured part.",
                  "type": "integer",
                  "minimum": 0
                },
                "interrupted": {"type": "boolean"},
                "merged_from": {
                  "description": "The number of merged reports, in a report of volley merge.",
                  "type": "integer",
                  "minimum": 1
                }
              }
            },
            "requests": {
              "type": "object",
              "additionalProperties": false,
              "required": [
                "sent",
                "completed",
                "failed",
                "in_flight_at_stop",
                "balanced",
                "succeeded",
                "http_errors",
                "sent_again",
                "redirects",
                "follow_ups",
                "drained",
                "drained_succeeded"
              ],
              "properties": {
                "sent": {"description": "completed + failed + in_flight_at_stop.", "type": "integer", "minimum": 0},
                "completed": {"type": "integer", "minimum": 0},
                "failed": {"type": "integer", "minimum": 0},
                "in_flight_at_stop": {"type": "integer", "minimum": 0},
                "balanced": {"description": "Whether the sum above holds.", "type": "boolean"},
                "succeeded": {"description": "Completed with a 2xx or 3xx status.", "type": "integer", "minimum": 0},
                "http_errors": {"description": "Completed with another status.", "type": "integer", "minimum": 0},
                "sent_again": {
                  "description": "Requests that --retry, a close on a pipeline or a proxy had sent again; each counts once in sent.",
                  "type": "integer",
                  "minimum": 0
                },
                "redirects": {"description": "Followed redirects; each is a request too.", "type": "integer", "minimum": 0},
                "follow_ups": {
                  "description": "Answers in the measured part that do not count for its due requests: those to requests of the warm-up and to all but the first request of each visit, and redirections that were followed.",
                  "type": "integer",
                  "minimum": 0
                },
                "drained": {
                  "description": "Completed after the measured part, and part of no rate.",
                  "type": "integer",
                  "minimum": 0
                },
                "drained_succeeded": {"description": "Drained with a 2xx or 3xx status.", "type": "integer", "minimum": 0}
              }
            },
            "rate": {
              "type": "object",
              "additionalProperties": false,
              "required": [
                "successes_per_second",
                "completed_per_second",
                "connections_per_second",
                "bytes_in_per_second",
                "bytes_out_per_second"
              ],
              "properties": {
                "successes_per_second": {"type": "number", "minimum": 0},
                "completed_per_second": {"type": "number", "minimum": 0},
                "connections_per_second": {
                  "description": "The rate of connections, if the run measures connections; null otherwise.",
                  "type": ["number", "null"]
                },
                "bytes_in_per_second": {"type": "number", "minimum": 0},
                "bytes_out_per_second": {"type": "number", "minimum": 0}
              }
            },
            "statuses": {
              "description": "Responses by status code.",
              "type": "object",
              "additionalProperties": {"type": "integer", "minimum": 0}
            },
            "bytes": {
              "description": "The bytes of messages, and those of their contents; over TLS, before encryption.",
              "type": "object",
              "additionalProperties": false,
              "required": ["in", "in_content", "in_drained", "out", "out_content", "out_drained"],
              "properties": {
                "in": {"type": "integer", "minimum": 0},
                "in_content": {"type": "integer", "minimum": 0},
                "in_drained": {"description": "Those of answers after the measured part: in no rate.", "type": "integer", "minimum": 0},
                "out": {"type": "integer", "minimum": 0},
                "out_content": {"type": "integer", "minimum": 0},
                "out_drained": {"description": "Those of answers after the measured part: in no rate.", "type": "integer", "minimum": 0}
              }
            },
            "connections": {
              "description": "Connections of the whole run with its warm-up; of handshakes, of the measured part only.",
              "type": "object",
              "additionalProperties": false,
              "required": ["opened", "failed", "in_flight_at_stop", "stray"],
              "properties": {
                "opened": {"type": "integer", "minimum": 0},
                "failed": {"type": "integer", "minimum": 0},
                "stray": {
                  "description": "Connections closed at rest because unexpected bytes came, in the measured part.",
                  "type": "integer",
                  "minimum": 0
                },
                "in_flight_at_stop": {
                  "description": "Unfinished connections in a run of handshakes; otherwise 0.",
                  "type": "integer",
                  "minimum": 0
                }
              }
            },
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
            "latency": {
              "description": "In a closed loop, requests that were not sent during stalls are missing.",
              "type": "object",
              "additionalProperties": false,
              "required": ["raw", "http_error", "failed", "first_byte", "connect", "tls"],
              "properties": {
                "raw": {"description": "Successes, from the first byte sent.", "$ref": "#/$defs/histogram"},
                "http_error": {"$ref": "#/$defs/histogram"},
                "failed": {"$ref": "#/$defs/histogram"},
                "first_byte": {"$ref": "#/$defs/histogram"},
                "connect": {"$ref": "#/$defs/histogram"},
                "tls": {"$ref": "#/$defs/histogram"}
              }
            },
            "schedule": {"$ref": "#/$defs/schedule"},
            "stream": {
              "description": "The events of answers that are streams. Null for others.",
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": ["kind", "events", "events_drained", "events_per_second", "stalls", "stall_ns", "silent", "first_event", "first_event_corrected", "gap"],
              "properties": {
                "kind": {"enum": ["sse", "ndjson", "bytes"]},
                "events": {"type": "integer", "minimum": 0},
                "events_drained": {"description": "Those after the measured part: in no rate.", "type": "integer", "minimum": 0},
                "events_per_second": {"type": "number", "minimum": 0},
                "stalls": {"description": "Gaps of more than stall_ns.", "type": "integer", "minimum": 0},
                "stall_ns": {"type": "integer", "minimum": 0},
                "silent": {"description": "Streams without an event.", "type": "integer", "minimum": 0},
                "first_event": {"description": "From the first byte sent.", "$ref": "#/$defs/histogram"},
                "first_event_corrected": {"description": "From when the request was due.", "$ref": "#/$defs/histogram"},
                "gap": {"description": "Between two events of a stream.", "$ref": "#/$defs/histogram"}
              }
            },
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
