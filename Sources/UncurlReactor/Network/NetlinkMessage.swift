/// A message of the kernel about links, addresses and routes (netlink(7), rtnetlink(7)): lengths, types and attributes
/// in the machine's byte order. It reads only the bytes that it is given.
struct NetlinkMessage {
    let type: UInt16
    let flags: UInt16
    /// The number of the request that this answers; 0 for a change. A change that another program has made carries that
    /// program's number, so a number counts only with the port of the socket that chose it.
    let sequence: UInt32
    let payload: ArraySlice<UInt8>

    static let headerLength = 16
    /// Messages and attributes begin at multiples of this.
    static let alignment = 4

    enum Kind {
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let overrun: UInt16 = 4
        static let newLink: UInt16 = 16
        static let deleteLink: UInt16 = 17
        static let getLink: UInt16 = 18
        static let newAddress: UInt16 = 20
        static let deleteAddress: UInt16 = 21
        static let getAddress: UInt16 = 22
        static let newRoute: UInt16 = 24
        static let deleteRoute: UInt16 = 25
        static let getRoute: UInt16 = 26
    }

    enum Flag {
        static let request: UInt16 = 0x01
        /// The table changed while it was being sent: it has to be requested again.
        static let interrupted: UInt16 = 0x10
        /// The whole table (NLM_F_ROOT and NLM_F_MATCH).
        static let dump: UInt16 = 0x300
    }

    /// Returns the messages of one datagram; a message that is cut off is left out.
    ///
    /// - Parameter port: the port of the socket that received them.
    static func all(in bytes: ArraySlice<UInt8>, port: UInt32) -> [NetlinkMessage] {
        var found: [NetlinkMessage] = []
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt32.self), length >= headerLength, length <= rest.count,
            let type = rest.number(at: 4, as: UInt16.self), let flags = rest.number(at: 6, as: UInt16.self),
            let number = rest.number(at: 8, as: UInt32.self), let receiver = rest.number(at: 12, as: UInt32.self)
        {
            let sequence = receiver == port ? number : 0
            let count = Int(length)
            let payload = rest.dropFirst(headerLength).prefix(count - headerLength)
            found.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: payload))
            rest = rest.dropFirst(aligned(count))
        }
        return found
    }

    /// Returns the attributes after a fixed part of that many bytes, by type; of several of one type, the last.
    func attributes(after count: Int) -> [UInt16: ArraySlice<UInt8>] { Self.attributes(in: payload.dropFirst(count)) }

    static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var found: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt16.self), length >= 4, Int(length) <= rest.count,
            let type = rest.number(at: 2, as: UInt16.self)
        {
            // NLA_F_NESTED and NLA_F_NET_BYTEORDER are not part of the type.
            found[type & 0x3FFF] = rest.dropFirst(4).prefix(Int(length) - 4)
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return found
    }

    static func aligned(_ count: Int) -> Int { (count + alignment - 1) & ~(alignment - 1) }

    // MARK: Requests

    /// - Parameters:
    ///   - payload: the fixed part, and attributes made by ``attribute(_:_:)``.
    static func request(_ type: UInt16, _ flags: UInt16, sequence: UInt32, payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(clamping: headerLength + payload.count))
        bytes.append(number: type)
        bytes.append(number: Flag.request | flags)
        bytes.append(number: sequence)
        bytes.append(number: UInt32(0))
        return bytes + payload
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(clamping: 4 + value.count))
        bytes.append(number: type)
        bytes += value
        return bytes + [UInt8](repeating: 0, count: aligned(value.count) - value.count)
    }
}

extension ArraySlice<UInt8> {
    /// Returns a number in the machine's byte order; nil if the bytes end before it.
    func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number? {
        let size = Number.bitWidth / 8
        guard count >= offset + size else { return nil }
        var value: Number = 0
        for index in 0..<size {
            let byte = Number(truncatingIfNeeded: self[startIndex + offset + index])
            #if _endian(little)
            value |= byte << Number(8 * index)
            #else
            value = (value << 8) | byte
            #endif
        }
        return value
    }

    /// The text up to the first NUL.
    var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}

extension [UInt8] {
    /// Appends a number in the machine's byte order.
    mutating func append<Number: FixedWidthInteger>(number: Number) {
        for index in 0..<Number.bitWidth / 8 {
            #if _endian(little)
            append(UInt8(truncatingIfNeeded: number >> Number(8 * index)))
            #else
            append(UInt8(truncatingIfNeeded: number >> Number(Number.bitWidth - 8 * (index + 1))))
            #endif
        }
    }
}
