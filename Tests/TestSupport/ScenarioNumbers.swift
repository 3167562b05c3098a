public import Testing

/// The faults of a client's life that a test proves, by their numbers in `ScenarioTableTests`.
public struct ScenarioNumbers: TestTrait {
    /// From 1 to 40.
    public let numbers: [Int]

    public var comments: [Comment] {
        [Comment(rawValue: "scenario: " + numbers.map(String.init).joined(separator: ", "))]
    }
}

extension Trait where Self == ScenarioNumbers {
    /// The test fails where the client does not do what is said of one of these.
    public static func scenario(_ numbers: Int...) -> ScenarioNumbers { ScenarioNumbers(numbers: numbers) }
}
