/// What a value prints: its type, and those of its parts that are there, in one line.
package func described(_ type: Any.Type, _ parts: KeyValuePairs<String, Any?>) -> String {
    let shown = parts.compactMap { name, part -> String? in
        guard let part, (part as? any Collection)?.isEmpty != true else { return nil }
        return name.isEmpty ? "\(part)" : "\(name): \(part)"
    }
    return "\(type)(\(shown.joined(separator: ", ")))"
}

extension Optional {
    /// `…` for a part that has no text of its own, or is a secret; nil if it is not there.
    package var elided: String? { map { _ in "…" } }
}
