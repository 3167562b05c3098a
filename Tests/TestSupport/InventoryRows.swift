public import Testing

/// Rows of the feature inventory (`Inventory.md` of Uncurl's documentation) that a test proves. A test of the repository's text finds a
/// test for each row.
public struct InventoryRows: TestTrait, SuiteTrait {
    /// Such as `B2`.
    public let ids: [String]

    public var comments: [Comment] { [Comment(rawValue: "inventory: " + ids.joined(separator: ", "))] }
}

extension Trait where Self == InventoryRows {
    /// The test fails where one of these rows does not hold.
    public static func rows(_ ids: String...) -> InventoryRows { InventoryRows(ids: ids) }
}
