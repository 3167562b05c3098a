extension SecurityPolicy.Roots: Codable {
    private enum Key: String, CodingKey { case kind, certificates }
    private enum Kind: String, Codable { case system, only, systemAnd }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let certificates = try container.decodeIfPresent([TrustedCertificate].self, forKey: .certificates) ?? []
        self =
            switch try container.decode(Kind.self, forKey: .kind) {
            case .system: .system
            case .only: .only(certificates)
            case .systemAnd: .systemAnd(certificates)
            }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .system: try container.encode(Kind.system, forKey: .kind)
        case .only(let certificates):
            try container.encode(Kind.only, forKey: .kind)
            try container.encode(certificates, forKey: .certificates)
        case .systemAnd(let certificates):
            try container.encode(Kind.systemAnd, forKey: .kind)
            try container.encode(certificates, forKey: .certificates)
        }
    }
}
