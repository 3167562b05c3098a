extension ScenarioFile {
    /// The JSON Schema (draft 2020-12) of a scenario file, which `volley schema scenario` prints. `volley check` also
    /// checks what a schema cannot express, such as that a value is declared before it is used.
    static let schema = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "A scenario of volley",
          "description": "The steps of virtual users. Texts of url, fields, body, json and form may have {{…}}.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "$schema": {"type": "string"},
            "url": {"description": "The server of paths; a URL on the command line replaces it.", "type": "string"},
            "fields": {
              "description": "Header fields of each request that does not set them itself.",
              "$ref": "#/$defs/texts"
            },
            "cookies": {"description": "Whether each user keeps its cookies.", "type": "boolean"},
            "variables": {"description": "Variables and their initial values in each visit.", "$ref": "#/$defs/texts"},
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
            "steps": {"description": "The steps of the only scenario.", "$ref": "#/$defs/steps"},
            "scenarios": {
              "description": "In place of steps: each visit follows one of these, chosen at random by weight.",
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
              "description": "A request (url), a pause, a loop of steps, or a choice between lists of steps (choose).",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "url": {"description": "A path, or a whole URL.", "type": "string"},
                "name": {"description": "The name of its figures; by default its method and path.", "type": "string"},
                "method": {"description": "GET, or with content POST.", "type": "string"},
                "fields": {"$ref": "#/$defs/texts"},
                "body": {"description": "The content as it is.", "$ref": "#/$defs/text"},
                "json": {"description": "The content as JSON; values in texts are escaped."},
                "form": {"description": "The content as a form, percent-encoded.", "$ref": "#/$defs/texts"},
                "extract": {
                  "description": "Values of the answer for later requests. A missing value fails the request.",
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
                      "default": {"description": "The value if the answer has none.", "$ref": "#/$defs/text"}
                    }
                  }
                },
                "check": {
                  "description": "The conditions of the answer. If one is not met, the request has failed.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "status": {"description": "Such as 200, 2xx or 300-399.", "$ref": "#/$defs/text"},
                    "fields": {
                      "description": "Header fields that the answer must have; null for any value.",
                      "type": "object",
                      "additionalProperties": {"type": ["string", "number", "null"]}
                    },
                    "body": {"description": "A text that the content must contain.", "type": "string"},
                    "json": {"description": "Values that the content must have, by JSON pointer.", "type": "object"}
                  }
                },
                "continue": {"description": "Whether the visit continues after a failed request.", "type": "boolean"},
                "pause": {"$ref": "#/$defs/pause"},
                "loop": {"description": "The number of rounds.", "$ref": "#/$defs/count"},
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
