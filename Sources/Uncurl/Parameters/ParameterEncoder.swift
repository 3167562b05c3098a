internal import Foundation

extension Parameters {
    /// Makes parameters of anything `Encodable`. Dates, bytes and decimals stay what they are, URLs become text,
    /// `Set`s stay sets; names come in the order in which the value encodes them.
    public init(encoding value: some Encodable) throws(ParameterFailure) {
        do {
            self = try ParameterEncoder.parameters(of: value, at: [], depth: 0)
        } catch let failure as ParameterFailure {
            throw failure
        } catch {
            throw ParameterFailure(.thrown(error))
        }
    }
}

/// Where one value of the tree is made. Containers write into it; what stands in it at the end is the value.
final class ParameterNode {
    enum Content {
        case none
        case value(Parameters)
        case array([ParameterNode])
        case keyed([(name: String, node: ParameterNode)])
    }

    var content = Content.none

    /// Unless it is one already: a superclass goes on in its subclass's.
    func becomeObject() {
        if case .keyed = content { return }
        content = .keyed([])
    }

    func becomeArray() {
        if case .array = content { return }
        content = .array([])
    }

    /// A new place under a name.
    func field(_ name: String) -> ParameterNode {
        let place = ParameterNode()
        if case .keyed(var fields) = content {
            // Given up first: else each name would copy those before it.
            content = .none
            fields.append((name, place))
            content = .keyed(fields)
        }
        return place
    }

    /// A new place behind the others.
    func element() -> ParameterNode {
        let place = ParameterNode()
        if case .array(var nodes) = content {
            content = .none
            nodes.append(place)
            content = .array(nodes)
        }
        return place
    }

    func sortNames() {
        guard case .keyed(let fields) = content else { return }
        content = .keyed(fields.sorted { $0.name < $1.name })
    }

    /// A value that encodes nothing is an empty object, as `JSONEncoder` has it for a struct without properties.
    var parameters: Parameters {
        switch content {
        case .none: return .empty
        case .value(let value): return value
        case .array(let nodes): return .array(nodes.map(\.parameters))
        case .keyed(let fields):
            var keyed = KeyedParameters()
            for (name, node) in fields { keyed[name] = node.parameters }
            return .keyed(keyed)
        }
    }
}

/// The encoder that a value encodes itself into.
struct ParameterEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func parameters(
        of value: some Encodable,
        at path: [any CodingKey],
        depth: Int
    ) throws -> Parameters {
        let node = ParameterNode()
        try encode(value, into: node, at: path, depth: depth)
        return node.parameters
    }

    /// Types that mean something by themselves are taken as they are, the rest encodes itself.
    static func encode(
        _ value: some Encodable,
        into node: ParameterNode,
        at path: [any CodingKey],
        depth: Int
    ) throws {
        guard depth <= Parameters.maximumDepth else {
            throw ParameterFailure(.tooDeep(limit: Parameters.maximumDepth))
        }
        switch value {
        case let value as Parameters: node.content = .value(value)
        case let value as Date: node.content = .value(.date(value))
        case let value as Data: node.content = .value(.data(value))
        case let value as Decimal: node.content = .value(.decimal(value))
        case let value as URL: node.content = .value(.string(value.absoluteString))
        case let value as any UnorderedValues:
            node.content = .value(.set(try value.parameters(at: path, depth: depth + 1)))
        default:
            try value.encode(to: ParameterEncoder(node: node, codingPath: path, depth: depth))
            if value is any UnorderedNames { node.sortNames() }
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(ParameterKeyedContainer(node: node, codingPath: codingPath, depth: depth))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return ParameterUnkeyedContainer(node: node, codingPath: codingPath, depth: depth)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ParameterSingleContainer(node: node, codingPath: codingPath, depth: depth)
    }
}

/// `Set`, which encodes itself as an array and would be taken for one.
private protocol UnorderedValues {
    func parameters(at path: [any CodingKey], depth: Int) throws -> [Parameters]
}

extension Set: UnorderedValues where Element: Encodable {
    fileprivate func parameters(at path: [any CodingKey], depth: Int) throws -> [Parameters] {
        try map { try ParameterEncoder.parameters(of: $0, at: path, depth: depth) }
    }
}

/// `Dictionary`, whose order differs from process to process: its names are sorted, so that a request is the same in
/// each.
private protocol UnorderedNames {}

extension Dictionary: UnorderedNames where Key == String {}
