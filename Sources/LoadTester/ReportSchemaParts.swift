/// What ``ReportSchema`` refers to by name.
enum ReportSchemaParts {
    static let definitions = #"""
          "$defs": {
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
