/// What ``ReportSchema`` refers to by name.
enum ReportSchemaParts {
    static let definitions = #"""
          "$defs": {
            "intervals": {
              "description": "The measured part's course; in a long run several intervals are one.",
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
                  "latency"
                ],
                "properties": {
                  "start_ns": {"description": "After the start of the measured part.", "type": "integer", "minimum": 0},
                  "end_ns": {"type": "integer", "minimum": 0},
                  "completed": {"description": "Or connections opened.", "type": "integer", "minimum": 0},
                  "successes": {"type": "integer", "minimum": 0},
                  "http_errors": {"type": "integer", "minimum": 0},
                  "failed": {"type": "integer", "minimum": 0},
                  "connects_failed": {"type": "integer", "minimum": 0},
                  "sent_again": {"type": "integer", "minimum": 0},
                  "bytes_in": {"type": "integer", "minimum": 0},
                  "latency": {
                    "description": "Of what the run is about: corrected, success or tls.",
                    "$ref": "#/$defs/histogram"
                  }
                }
              }
            },
            "runs": {
              "description": "Each run by itself, where --repeat made several; else the one.",
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
            "limits": {
              "description": "The conditions of --fail-if, in their order.",
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["condition", "found", "kept"],
                "properties": {
                  "condition": {"description": "As it was given.", "type": "string"},
                  "found": {"description": "The figure that it is about.", "type": "string"},
                  "kept": {"description": "It does not hold, so the run has not failed by it.", "type": "boolean"}
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
