/// Header fields as lines, each as `Name: value`.
extension [String] {
    /// Returns these lines, and those of `others` whose names are not among theirs.
    package func adding(_ others: [String]) -> [String] {
        guard !others.isEmpty else { return self }
        let names = Set(map(Self.name))
        return self + others.filter { !names.contains(Self.name($0)) }
    }

    /// The name in lower case.
    private static func name(_ line: String) -> OctetText { OctetText(line.prefix(before: ":").lowercased()) }
}
