/// The chunked coding as RFC 9112 §7.1 spells it, for a whole input, an octet at a time and with no thought of speed.
/// Written apart from the decoder, to be compared with it.
public enum ReferenceChunks {
    public enum Verdict: Equatable {
        case complete([UInt8], length: Int)
        case incomplete([UInt8])
        case invalid
    }

    public static func decode(_ input: [UInt8]) -> Verdict {
        var reader = Reader(input: input)
        do {
            try reader.body()
            return .complete(reader.decoded, length: reader.position)
        } catch Reader.Stop.end {
            return .incomplete(reader.decoded)
        } catch {
            return .invalid
        }
    }

    private struct Reader {
        enum Stop: Error {
            case end
            case invalid
        }

        let input: [UInt8]
        var position = 0
        var decoded: [UInt8] = []
        var announced: UInt64 = 0
        var allExtensions = 0

        func peek() throws -> UInt8 {
            guard position < input.count else { throw Stop.end }
            return input[position]
        }

        mutating func take(_ octet: UInt8) throws {
            guard try peek() == octet else { throw Stop.invalid }
            position += 1
        }

        mutating func body() throws {
            while true {
                let size = try sizeLine()
                if size == 0 { break }
                for _ in 0..<size {
                    decoded.append(try peek())
                    position += 1
                }
                try take(13)
                try take(10)
            }
            try trailers()
        }

        mutating func sizeLine() throws -> UInt64 {
            let start = position
            var size: UInt64 = 0
            var digits = 0
            while let digit = hex(try peekInLine(start)) {
                guard size < 1 << 59 else { throw Stop.invalid }
                size = size * 16 + digit
                digits += 1
                position += 1
            }
            guard digits > 0 else { throw Stop.invalid }
            guard size <= UInt64(Int64.max) - announced else { throw Stop.invalid }
            let extensionStart = position
            try extensions(start, extensionStart)
            _ = try peekInLine(start)
            try take(13)
            _ = try peekInLine(start)
            try take(10)
            announced += size
            return size
        }

        /// The next octet of a size line, at most 1024 of which may be.
        func peekInLine(_ start: Int) throws -> UInt8 {
            let octet = try peek()
            guard position - start < 1024 else { throw Stop.invalid }
            return octet
        }

        mutating func extensionOctet(_ start: Int, _ from: Int) throws -> UInt8 {
            let octet = try peekInLine(start)
            guard octet != 13, octet != 10 else { return octet }
            guard position - from < 256 else { throw Stop.invalid }
            return octet
        }

        mutating func step() throws {
            position += 1
            allExtensions += 1
            guard allExtensions <= 16 * 1024 else { throw Stop.invalid }
        }

        mutating func extensions(_ start: Int, _ from: Int) throws {
            while true {
                let isBlank = try blanks(start, from)
                let octet = try extensionOctet(start, from)
                guard octet == 0x3B else {
                    guard octet == 13, !isBlank else { throw Stop.invalid }
                    return
                }
                try step()
                _ = try blanks(start, from)
                try token(start, from)
                let mark = (position, allExtensions)
                _ = try blanks(start, from)
                guard try extensionOctet(start, from) == 0x3D else {
                    (position, allExtensions) = mark
                    continue
                }
                try step()
                _ = try blanks(start, from)
                if try extensionOctet(start, from) == 0x22 {
                    try quoted(start, from)
                } else {
                    try token(start, from)
                }
            }
        }

        mutating func blanks(_ start: Int, _ from: Int) throws -> Bool {
            let before = position
            while [0x20, 0x09].contains(try extensionOctet(start, from)) { try step() }
            return position > before
        }

        mutating func token(_ start: Int, _ from: Int) throws {
            let before = position
            while isToken(try extensionOctet(start, from)) { try step() }
            guard position > before else { throw Stop.invalid }
        }

        mutating func quoted(_ start: Int, _ from: Int) throws {
            try step()
            while true {
                var octet = try extensionOctet(start, from)
                if octet == 0x22 { return try step() }
                if octet == 0x5C {
                    try step()
                    octet = try extensionOctet(start, from)
                }
                guard octet == 9 || octet >= 0x20 && octet != 0x7F else { throw Stop.invalid }
                try step()
            }
        }

        mutating func trailers() throws {
            let start = position
            var count = 0
            let limited = { (reader: Reader) throws -> UInt8 in
                let octet = try reader.peek()
                guard reader.position - start < 16 * 1024 else { throw Stop.invalid }
                return octet
            }
            while true {
                if try limited(self) == 13 {
                    position += 1
                    _ = try limited(self)
                    return try take(10)
                }
                let name = position
                while isToken(try limited(self)) {
                    position += 1
                    guard position - name <= 1024 else { throw Stop.invalid }
                }
                guard position > name else { throw Stop.invalid }
                try take(0x3A)
                while case let octet = try limited(self), octet == 9 || octet >= 0x20 && octet != 0x7F {
                    position += 1
                }
                try take(13)
                _ = try limited(self)
                try take(10)
                count += 1
                guard count <= 256 else { throw Stop.invalid }
            }
        }
    }
}

func hex(_ octet: UInt8) -> UInt64? {
    switch octet {
    case 0x30...0x39: UInt64(octet - 0x30)
    case 0x41...0x46: UInt64(octet - 0x41 + 10)
    case 0x61...0x66: UInt64(octet - 0x61 + 10)
    default: nil
    }
}

func isToken(_ octet: UInt8) -> Bool {
    switch octet {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: Array("!#$%&'*+-.^_`|~".utf8).contains(octet)
    }
}
