import Foundation

/// As much of JSON Schema as volley's schema uses; an unknown keyword is a complaint, so that nothing in the
/// schema is read over.
package struct SchemaCheck {
    package let root: [String: Any]

    package init(_ text: String) throws {
        root = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    package func complaints(about text: String) throws -> [String] {
        check(try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed), root, "$")
    }

    private func check(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
        var found: [String] = []
        for (keyword, rule) in schema {
            switch keyword {
            case "$schema", "$defs", "title", "description": break
            case "$ref":
                let name = (rule as? String)?.split(separator: "/").last.map(String.init) ?? ""
                let definition = (root["$defs"] as? [String: Any])?[name] as? [String: Any]
                found += definition.map { check(value, $0, path) } ?? ["\(path): no definition \(name)"]
            case "type":
                let names = rule as? [String] ?? [rule as? String ?? ""]
                if !names.contains(where: { Self.has(value, type: $0) }) { found.append("\(path): not \(names)") }
            case "const":
                if !Self.equal(value, rule) { found.append("\(path): not \(rule)") }
            case "enum":
                if !(rule as? [Any] ?? []).contains(where: { Self.equal(value, $0) }) {
                    found.append("\(path): not one of \(rule)")
                }
            case "minimum":
                if let number = value as? NSNumber, let least = rule as? NSNumber,
                    number.doubleValue < least.doubleValue
                {
                    found.append("\(path): below \(least)")
                }
            case "required":
                guard let object = value as? [String: Any] else { break }
                found += (rule as? [String] ?? []).filter { object[$0] == nil }.map { "\(path): lacks \($0)" }
            case "properties":
                guard let object = value as? [String: Any] else { break }
                for (name, inner) in rule as? [String: [String: Any]] ?? [:] {
                    if let member = object[name] { found += check(member, inner, "\(path).\(name)") }
                }
            case "additionalProperties":
                guard let object = value as? [String: Any] else { break }
                let known = Set((schema["properties"] as? [String: Any] ?? [:]).keys)
                for (name, member) in object where !known.contains(name) {
                    if let inner = rule as? [String: Any] {
                        found += check(member, inner, "\(path).\(name)")
                    } else {
                        found.append("\(path): has \(name)")
                    }
                }
            case "items":
                for (index, item) in (value as? [Any] ?? []).enumerated() {
                    found += check(item, rule as? [String: Any] ?? [:], "\(path)[\(index)]")
                }
            default: found.append("\(path): the schema's keyword \(keyword) is unknown to this check")
            }
        }
        return found
    }

    private static func equal(_ left: Any, _ right: Any) -> Bool {
        (left as? AnyHashable).map { $0 == right as? AnyHashable } ?? false
    }

    private static func has(_ value: Any, type: String) -> Bool {
        // JSONSerialization gives Booleans and numbers as one class; their C types tell them apart.
        let isBool = (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
        switch type {
        case "null": return value is NSNull
        case "boolean": return isBool
        case "integer":
            return !isBool && (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
        case "number": return !isBool && value is NSNumber
        case "string": return value is String
        case "array": return value is [Any]
        case "object": return value is [String: Any]
        default: return false
        }
    }
}
