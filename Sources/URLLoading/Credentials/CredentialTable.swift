/// What a ``URLCredentialStorage`` holds: credentials by space and user, and for some spaces which is tried first.
struct CredentialTable: Equatable, Sendable {
    private(set) var spaces: [ProtectionSpaceValues: [String: Credential]] = [:]
    private(set) var defaults: [ProtectionSpaceValues: Credential] = [:]

    var isEmpty: Bool { spaces.isEmpty && defaults.isEmpty }

    func credentials(for space: ProtectionSpaceValues) -> [String: Credential]? { spaces[space] }

    /// The one that was set as default; without such, the only one of the space. Of several without a default none
    /// is chosen. A space without any falls back on what was stored for the same one with the default method.
    func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        if let found = exactDefault(for: space) { return found }
        let general = space.forDefaultMethod
        return Self.passwordMethods.contains(space.method) ? exactDefault(for: general) : nil
    }

    private func exactDefault(for space: ProtectionSpaceValues) -> Credential? {
        if let chosen = defaults[space] { return chosen }
        guard let all = spaces[space], all.count == 1 else { return nil }
        return all.first?.value
    }

    /// The methods that the default method stands for.
    private static let passwordMethods: Set<String> = [
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
    ]

    /// - Returns: whether anything changed.
    mutating func set(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        guard credential.isStorable, spaces[space]?[credential.name] != credential else { return false }
        spaces[space, default: [:]][credential.name] = credential
        // The default follows what its user's credential has become.
        if defaults[space]?.name == credential.name { defaults[space] = credential }
        return true
    }

    mutating func setDefault(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        guard credential.isStorable else { return false }
        let isNew = set(credential, for: space)
        guard defaults[space] != credential else { return isNew }
        defaults[space] = credential
        return true
    }

    mutating func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        var isChanged = false
        if spaces[space]?[credential.name] == credential {
            spaces[space]?[credential.name] = nil
            if spaces[space]?.isEmpty == true { spaces[space] = nil }
            isChanged = true
        }
        if defaults[space] == credential {
            defaults[space] = nil
            isChanged = true
        }
        return isChanged
    }
}
