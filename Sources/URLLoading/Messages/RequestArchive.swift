internal import Foundation

/// A request in a keyed archive, under FoundationNetworking's keys: an archive of its `NSURLRequest` can be read once
/// the unarchiver has been told the class (`setClass(_:forClassName:)`).
extension RequestValues {
    init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        self.init(
            url: coder.url("NS.url"),
            cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: Self.defaultTimeout
        )
        mainDocumentURL = coder.url("NS.mainDocumentURL")
        setMethod(coder.string("NS.httpMethod"))
        dictionary = coder.strings("NS._allHTTPHeaderFields")
        cachePolicy = coder.number("NS._cachePolicy").flatMap { .init(rawValue: $0.uintValue) } ?? cachePolicy
        explicitTimeout = coder.number("NS._timeoutInterval")?.doubleValue
        let service = coder.number("NS._networkServiceType")
        networkServiceType = service.flatMap { .init(rawValue: $0.uintValue) } ?? .default
        func flag(_ key: String) -> Bool { coder.number(key)?.boolValue ?? true }
        allowsCellularAccess = flag("NS._allowsCellularAccess")
        allowsExpensiveNetworkAccess = flag("NS._allowsExpensiveNetworkAccess")
        allowsConstrainedNetworkAccess = flag("NS._allowsConstrainedNetworkAccess")
        httpShouldHandleCookies = flag("NS._httpShouldHandleCookies")
        httpShouldUsePipelining = flag("NS._httpShouldUsePipelining")
        if coder.containsValue(forKey: "NS.httpBody") {
            httpBody = unsafe coder.withDecodedUnsafeBufferPointer(forKey: "NS.httpBody") { octets in
                unsafe octets.map { unsafe Data(buffer: $0) }
            }
        }
    }

    func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url as NSURL?, forKey: "NS.url")
        coder.encode(mainDocumentURL as NSURL?, forKey: "NS.mainDocumentURL")
        coder.encode(httpMethod as NSString, forKey: "NS.httpMethod")
        coder.encode(dictionary as NSDictionary?, forKey: "NS._allHTTPHeaderFields")
        coder.encode(NSNumber(value: cachePolicy.rawValue), forKey: "NS._cachePolicy")
        // Without the key, the session's time limit applies.
        coder.encode(explicitTimeout.map { NSNumber(value: $0) }, forKey: "NS._timeoutInterval")
        coder.encode(NSNumber(value: networkServiceType.rawValue), forKey: "NS._networkServiceType")
        coder.encode(NSNumber(value: allowsCellularAccess), forKey: "NS._allowsCellularAccess")
        coder.encode(NSNumber(value: allowsExpensiveNetworkAccess), forKey: "NS._allowsExpensiveNetworkAccess")
        coder.encode(NSNumber(value: allowsConstrainedNetworkAccess), forKey: "NS._allowsConstrainedNetworkAccess")
        coder.encode(NSNumber(value: httpShouldHandleCookies), forKey: "NS._httpShouldHandleCookies")
        coder.encode(NSNumber(value: httpShouldUsePipelining), forKey: "NS._httpShouldUsePipelining")
        guard let httpBody else { return }
        unsafe httpBody.withUnsafeBytes { octets in
            let octets = unsafe octets.bindMemory(to: UInt8.self)
            unsafe coder.encodeBytes(octets.baseAddress, length: octets.count, forKey: "NS.httpBody")
        }
    }
}
