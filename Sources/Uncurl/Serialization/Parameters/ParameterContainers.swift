/// An object that is being encoded. Several containers may write to one node: a class's and its superclass's.
struct ParameterKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    init(node: ParameterNode, codingPath: [any CodingKey], depth: Int) {
        self.node = node
        self.codingPath = codingPath
        self.depth = depth
        if case .keyed = node.content { return }
        node.content = .keyed([])
    }

    private func place(_ name: String) -> ParameterNode {
        let place = ParameterNode()
        if case .keyed(var fields) = node.content {
            // Given up first: else each name would copy those before it.
            node.content = .none
            fields.append((name, place))
            node.content = .keyed(fields)
        }
        return place
    }

    func encodeNil(forKey key: Key) throws { place(key.stringValue).content = .value(.null) }
    func encode(_ value: Bool, forKey key: Key) throws { place(key.stringValue).content = .value(.bool(value)) }
    func encode(_ value: String, forKey key: Key) throws { place(key.stringValue).content = .value(.string(value)) }
    func encode(_ value: Double, forKey key: Key) throws { place(key.stringValue).content = .value(.double(value)) }
    func encode(_ value: Float, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: Int, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: Int8, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: Int16, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: Int32, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: Int64, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: UInt, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: UInt8, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: UInt16, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: UInt32, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }
    func encode(_ value: UInt64, forKey key: Key) throws { place(key.stringValue).content = .value(Parameters(value)) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try ParameterEncoder.encode(value, into: place(key.stringValue), at: codingPath + [key], depth: depth + 1)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(ParameterKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> ParameterEncoder {
        ParameterEncoder(node: place(key.stringValue), codingPath: codingPath + [key], depth: depth + 1)
    }
}

/// An array that is being encoded.
struct ParameterUnkeyedContainer: UnkeyedEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    init(node: ParameterNode, codingPath: [any CodingKey], depth: Int) {
        self.node = node
        self.codingPath = codingPath
        self.depth = depth
        if case .array = node.content { return }
        node.content = .array([])
    }

    var count: Int {
        if case .array(let nodes) = node.content { nodes.count } else { 0 }
    }

    private func place() -> ParameterNode {
        let place = ParameterNode()
        if case .array(var nodes) = node.content {
            // Given up first: else each element would copy those before it.
            node.content = .none
            nodes.append(place)
            node.content = .array(nodes)
        }
        return place
    }

    func encodeNil() throws { place().content = .value(.null) }
    func encode(_ value: Bool) throws { place().content = .value(.bool(value)) }
    func encode(_ value: String) throws { place().content = .value(.string(value)) }
    func encode(_ value: Double) throws { place().content = .value(.double(value)) }
    func encode(_ value: Float) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: Int) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: Int8) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: Int16) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: Int32) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: Int64) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: UInt) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: UInt8) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: UInt16) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: UInt32) throws { place().content = .value(Parameters(value)) }
    func encode(_ value: UInt64) throws { place().content = .value(Parameters(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let path = codingPath + [ParameterKey(index: count)]
        try ParameterEncoder.encode(value, into: place(), at: path, depth: depth + 1)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func nested() -> ParameterEncoder {
        let path = codingPath + [ParameterKey(index: count)]
        return ParameterEncoder(node: place(), codingPath: path, depth: depth + 1)
    }
}

/// A value that is no container.
struct ParameterSingleContainer: SingleValueEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    func encodeNil() throws { node.content = .value(.null) }
    func encode(_ value: Bool) throws { node.content = .value(.bool(value)) }
    func encode(_ value: String) throws { node.content = .value(.string(value)) }
    func encode(_ value: Double) throws { node.content = .value(.double(value)) }
    func encode(_ value: Float) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: Int) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: Int8) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: Int16) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: Int32) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: Int64) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: UInt) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: UInt8) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: UInt16) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: UInt32) throws { node.content = .value(Parameters(value)) }
    func encode(_ value: UInt64) throws { node.content = .value(Parameters(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        try ParameterEncoder.encode(value, into: node, at: codingPath, depth: depth + 1)
    }
}

extension Parameters {
    /// Whichever case holds it.
    public init(_ value: some FixedWidthInteger) {
        if let small = Int64(exactly: value) {
            self = .integer(small)
        } else if let large = UInt64(exactly: value) {
            self = .unsigned(large)
        } else {
            self = .string(String(value))
        }
    }

    /// The double that is written with the same digits: a float's `0.1` is no `0.10000000149011612`.
    init(_ value: Float) {
        self = .double(Double(value.description) ?? Double(value))
    }
}

/// A name that no type has declared.
struct ParameterKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }
}
