/// The JSON Schema (draft 2020-12) of a scenario file, which `volley schema scenario` prints. What a schema cannot say,
/// such as that a value is named before it is used, `volley check` does.
enum ScenarioSchema {
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "A scenario of volley",
          "description": "What virtual users do. Texts of url, fields, body, json and form may have {{…}}.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "$schema": {"type": "string"},
            "url": {"description": "Whom paths are for; a URL on the command line goes before.", "type": "string"},
            "fields": {
              "description": "Header fields of each request that has none of the name.",
              "$ref": "#/$defs/texts"
            },
            "cookies": {"description": "Each user keeps the cookies it is given.", "type": "boolean"},
            "variables": {"description": "Values that each visit begins with.", "$ref": "#/$defs/texts"},
            "data": {
              "description": "Files of comma-separated values (RFC 4180). Each visit has a row: {{NAME.COLUMN}}.",
              "type": "object",
              "additionalProperties": {
                "type": "object",
                "additionalProperties": false,
                "required": ["file"],
                "properties": {
                  "file": {"description": "Relative to the scenario file.", "type": "string"},
                  "order": {"enum": ["in-order", "random"]}
                }
              }
            },
            "steps": {"description": "Of the only scenario.", "$ref": "#/$defs/steps"},
            "scenarios": {
              "description": "In place of steps: each visit is one of these, by chance and weight.",
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["steps"],
                "properties": {
                  "name": {"type": "string"},
                  "weight": {"$ref": "#/$defs/count"},
                  "steps": {"$ref": "#/$defs/steps"}
                }
              }
            }
          },
          "$defs": {
            "text": {"type": ["string", "number"]},
            "texts": {"type": "object", "additionalProperties": {"$ref": "#/$defs/text"}},
            "count": {"description": "At most a million.", "type": "integer", "minimum": 1},
            "pause": {"description": "Such as 1s, 50ms-150ms or exp:100ms; a number is seconds.", "$ref": "#/$defs/text"},
            "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}},
            "step": {
              "description": "A request (url), a pause, a loop of steps, or one way of several (choose).",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "url": {"description": "A path, or a whole URL.", "type": "string"},
                "name": {"description": "What the figures call it; else its method and path.", "type": "string"},
                "method": {"description": "GET, or with content POST.", "type": "string"},
                "fields": {"$ref": "#/$defs/texts"},
                "body": {"description": "The content as it is.", "$ref": "#/$defs/text"},
                "json": {"description": "The content as JSON; values in texts are escaped."},
                "form": {"description": "The content as a form, percent-encoded.", "$ref": "#/$defs/texts"},
                "extract": {
                  "description": "Values for the requests that follow, by name. One that is not there fails the request.",
                  "type": "object",
                  "additionalProperties": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "json": {"description": "A JSON pointer (RFC 6901).", "type": "string"},
                      "field": {"description": "A header field's name.", "type": "string"},
                      "cookie": {"description": "The name of a cookie that is set.", "type": "string"},
                      "pattern": {
                        "description": "A regular expression; its first group, or all that matches.",
                        "type": "string"
                      },
                      "default": {"description": "Where it is not there.", "$ref": "#/$defs/text"}
                    }
                  }
                },
                "check": {
                  "description": "What the answer must be, or its request has failed.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "status": {"description": "Such as 200, 2xx or 300-399.", "$ref": "#/$defs/text"},
                    "fields": {
                      "description": "Header fields that it has; null for any value.",
                      "type": "object",
                      "additionalProperties": {"type": ["string", "number", "null"]}
                    },
                    "body": {"description": "A text in its content.", "type": "string"},
                    "json": {"description": "Values in its content, by JSON pointer.", "type": "object"}
                  }
                },
                "continue": {"description": "The visit goes on though the answer was not good.", "type": "boolean"},
                "pause": {"$ref": "#/$defs/pause"},
                "loop": {"description": "How many rounds of steps.", "$ref": "#/$defs/count"},
                "steps": {"$ref": "#/$defs/steps"},
                "choose": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["steps"],
                    "properties": {
                      "weight": {"$ref": "#/$defs/count"},
                      "steps": {"$ref": "#/$defs/steps"}
                    }
                  }
                }
              }
            }
          }
        }
        """#
}
