import UncurlLoad

/// The definitions that ``ReportSchema`` refers to by name.
enum ReportSchemaParts {
    static let definitions = #"""
          "$defs": {
            "websocket": {
              "description": "The figures of WebSockets, whose messages are the requests. Null for others.",
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": ["message_bytes", "binary", "opened", "kept", "opened_per_second", "messages_per_connection", "dropped", "pushed", "open"],
              "properties": {
                "message_bytes": {"type": "integer", "minimum": 0},
                "binary": {"type": "boolean"},
                "opened": {"description": "Opened in the measured part.", "type": "integer", "minimum": 0},
                "kept": {"description": "Open when the warm-up ended.", "type": "integer", "minimum": 0},
                "opened_per_second": {"type": "number", "minimum": 0},
                "messages_per_connection": {"description": "Answered messages per connection of the measured part.", "type": ["number", "null"], "minimum": 0},
                "dropped": {"description": "Connections that the server ended while no answer was awaited.", "type": "integer", "minimum": 0},
                "pushed": {"description": "Messages that came while no answer was awaited.", "type": "integer", "minimum": 0},
                "open": {"description": "From the start of a connection to the end of its handshake.", "$ref": "#/$defs/histogram"}
              }
            },
            "intervals": {
              "description": "The course of the measured part. In a long run several intervals are combined.",
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": [
                  "start_ns",
                  "end_ns",
                  "completed",
                  "successes",
                  "http_errors",
                  "failed",
                  "connects_failed",
                  "sent_again",
                  "bytes_in",
                  "drained",
                  "drained_succeeded",
                  "due",
                  "stolen_ns",
                  "statuses",
                  "latency"
                ],
                "properties": {
                  "start_ns": {"description": "Since the start of the measured part.", "type": "integer", "minimum": 0},
                  "end_ns": {"type": "integer", "minimum": 0},
                  "completed": {"description": "Completed requests, or opened connections.", "type": "integer", "minimum": 0},
                  "successes": {"type": "integer", "minimum": 0},
                  "http_errors": {"type": "integer", "minimum": 0},
                  "failed": {"type": "integer", "minimum": 0},
                  "connects_failed": {"type": "integer", "minimum": 0},
                  "sent_again": {"type": "integer", "minimum": 0},
                  "bytes_in": {"type": "integer", "minimum": 0},
                  "drained": {"description": "Of the completed, those after the measured part: in no rate.", "type": "integer", "minimum": 0},
                  "drained_succeeded": {"description": "Drained with a 2xx or 3xx status.", "type": "integer", "minimum": 0},
                  "due": {"description": "Requests due by the schedule; null without one.", "type": ["integer", "null"], "minimum": 0},
                  "stolen_ns": {"description": "The processor time that the host took from this virtual machine; null where it is not known.", "type": ["integer", "null"], "minimum": 0},
                  "statuses": {
                    "description": "Responses by status code.",
                    "type": "object",
                    "additionalProperties": {"type": "integer", "minimum": 0}
                  },
                  "latency": {
                    "description": "The times that the run measures: corrected, raw or tls.",
                    "$ref": "#/$defs/histogram"
                  }
                }
              }
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
            "schedule": {
              "description": "The figures of an open loop; null otherwise.",
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": [
                "stages",
                "wanted_per_second",
                "rate_ratio",
                "due",
                "sent",
                "refused",
                "unsent",
                "delayed",
                "corrected",
                "without_lag",
                "lag",
                "wait",
                "generator_limits"
              ],
              "properties": {
                "stages": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["duration_ns", "from_per_second", "to_per_second"],
                    "properties": {
                      "duration_ns": {"type": "integer", "minimum": 0},
                      "from_per_second": {"type": "number", "minimum": 0},
                      "to_per_second": {"type": "number", "minimum": 0}
                    }
                  }
                },
                "wanted_per_second": {"description": "Requests due in the measured part.", "type": "number", "minimum": 0},
                "rate_ratio": {
                  "description": "The share of due requests that were answered, in the measured part; null if none was due.",
                  "type": ["number", "null"]
                },
                "due": {"description": "Requests that came due.", "type": "integer", "minimum": 0},
                "sent": {"description": "Due requests that were begun: due is sent + refused + unsent.", "type": "integer", "minimum": 0},
                "refused": {"description": "Due requests that got no connection.", "type": "integer", "minimum": 0},
                "unsent": {"description": "Due requests that were never sent.", "type": "integer", "minimum": 0},
                "delayed": {"description": "Due requests that had to wait for a free connection.", "type": "integer", "minimum": 0},
                "corrected": {
                  "description": "From the due time to the end of the response; one without a response counts with its age.",
                  "$ref": "#/$defs/histogram"
                },
                "without_lag": {
                  "description": "The same without lag, as if volley had been on time.",
                  "$ref": "#/$defs/histogram"
                },
                "lag": {"description": "From the due time to when volley noticed it: volley's own lateness.", "$ref": "#/$defs/histogram"},
                "wait": {"description": "From the due time to the first byte sent.", "$ref": "#/$defs/histogram"},
                "generator_limits": {
                  "description": "Why volley was the limit; empty if it was not.",
                  "type": "array",
                  "items": {"type": "string"}
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
