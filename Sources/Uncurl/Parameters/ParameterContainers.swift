/// An object that is being encoded. A class and its superclass may write to the same node through separate containers.
struct ParameterKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    private func put(_ value: Parameters, _ key: Key) { node.field(key.stringValue).content = .value(value) }

    func encodeNil(forKey key: Key) throws { put(.null, key) }
    func encode(_ value: Bool, forKey key: Key) throws { put(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) throws { put(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { put(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: Int, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: Int8, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: Int16, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: Int32, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: Int64, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: UInt, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: UInt8, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: UInt16, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: UInt32, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: UInt64, forKey key: Key) throws { put(Parameters(value), key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try ParameterEncoder.encode(value, into: node.field(key.stringValue), at: codingPath + [key], depth: depth + 1)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key, node.continued(key.stringValue)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key, node.continued(key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { superEncoder(ParameterKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key) }

    private func superEncoder(_ key: any CodingKey) -> ParameterEncoder { nested(key, node.field(key.stringValue)) }

    private func nested(_ key: any CodingKey, _ node: ParameterNode) -> ParameterEncoder {
        ParameterEncoder(node: node, codingPath: codingPath + [key], depth: depth + 1)
    }
}

/// Takes one value after the other, or a single one. The encoders of both kinds need the same functions.
protocol ParameterTaker {
    func put(_ value: Parameters)
}

extension ParameterTaker {
    func encodeNil() throws { put(.null) }
    func encode(_ value: Bool) throws { put(.bool(value)) }
    func encode(_ value: String) throws { put(.string(value)) }
    func encode(_ value: Double) throws { put(.double(value)) }
    func encode(_ value: Float) throws { put(Parameters(value)) }
    func encode(_ value: Int) throws { put(Parameters(value)) }
    func encode(_ value: Int8) throws { put(Parameters(value)) }
    func encode(_ value: Int16) throws { put(Parameters(value)) }
    func encode(_ value: Int32) throws { put(Parameters(value)) }
    func encode(_ value: Int64) throws { put(Parameters(value)) }
    func encode(_ value: UInt) throws { put(Parameters(value)) }
    func encode(_ value: UInt8) throws { put(Parameters(value)) }
    func encode(_ value: UInt16) throws { put(Parameters(value)) }
    func encode(_ value: UInt32) throws { put(Parameters(value)) }
    func encode(_ value: UInt64) throws { put(Parameters(value)) }
}

/// An array that is being encoded.
struct ParameterUnkeyedContainer: UnkeyedEncodingContainer, ParameterTaker {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    var count: Int {
        if case .array(let nodes) = node.content { nodes.count } else { 0 }
    }

    func put(_ value: Parameters) { node.element().content = .value(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let path = codingPath + [ParameterKey(index: count)]
        try ParameterEncoder.encode(value, into: node.element(), at: path, depth: depth + 1)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func nested() -> ParameterEncoder {
        let path = codingPath + [ParameterKey(index: count)]
        return ParameterEncoder(node: node.element(), codingPath: path, depth: depth + 1)
    }
}

/// A value that is no container.
struct ParameterSingleContainer: SingleValueEncodingContainer, ParameterTaker {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    func put(_ value: Parameters) { node.content = .value(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        try ParameterEncoder.encode(value, into: node, at: codingPath, depth: depth + 1)
    }
}

extension Parameters {
    /// The integer in the case that can hold it.
    public init(_ value: some FixedWidthInteger) {
        if let small = Int64(exactly: value) {
            self = .integer(small)
        } else if let large = UInt64(exactly: value) {
            self = .unsigned(large)
        } else {
            self = .string(String(value))
        }
    }

    /// The double with the same shortest digits, so that a float's `0.1` is not written as `0.10000000149011612`.
    init(_ value: Float) {
        self = .double(Double(value.description) ?? Double(value))
    }
}

/// A coding key of any name.
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
